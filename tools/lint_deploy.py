"""Checks the manifests for Kubernetes without a cluster.

  python3 tools/lint_deploy.py            checks deploy/kubernetes/ and every rendering of the chart
  python3 tools/lint_deploy.py --write    first makes deploy/kubernetes/ and the settings that the chart allows anew

The chart in deploy/helm/plimsoll is rendered once for each file in its folder ci/. kubeconform compares what comes out with
the schemas of three versions of Kubernetes; the rules below compare it with the program: its routes, its settings, the
time it takes to end, and the user of its image. `tools/setup deploy` brings Helm, kubeconform and the schemas.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
ASSETS = CACHE / "assets"
HELM, KUBECONFORM, SCHEMAS = ASSETS / "helm" / "helm", ASSETS / "kubeconform" / "kubeconform", ASSETS / "kubernetes-schemas"
CHART = ROOT / "deploy" / "helm" / "plimsoll"
PLAIN = ROOT / "deploy" / "kubernetes"
NAMESPACE = "llm"

try:
    import yaml
except ImportError:
    sys.path += [str(path) for path in (CACHE / "venv-deploy").glob("lib/python3*/site-packages")]
    try:
        import yaml
    except ImportError:
        yaml = None


class LintError(Exception):
    """Something could not be rendered or read; the text says what."""


def is_set_up():
    return yaml is not None and all(path.exists() for path in (HELM, KUBECONFORM, SCHEMAS))


# --- rendering -------------------------------------------------------------------------------------

def helm(*arguments):
    env = os.environ | {"HELM_CACHE_HOME": str(CACHE / "helm-home"), "HELM_CONFIG_HOME": str(CACHE / "helm-home"),
                        "HELM_DATA_HOME": str(CACHE / "helm-home")}
    return subprocess.run([str(HELM), *map(str, arguments)], capture_output=True, text=True, check=False, env=env)


def render(*arguments, release="plimsoll", chart=CHART):
    """The chart as text, with `arguments` such as --set and --values."""
    done = helm("template", release, chart, "--namespace", NAMESPACE, *arguments)
    if done.returncode:
        raise LintError(f"helm template {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


def documents(text):
    return [one for one in yaml.safe_load_all(text) if one]


def variants():
    """The files of values that the chart is rendered with, by name."""
    return {path.name.removesuffix("-values.yaml"): path for path in sorted((CHART / "ci").glob("*-values.yaml"))}


# --- schemas ---------------------------------------------------------------------------------------

REFERENCE = re.compile(r'"\$ref": ?"(?:/api/_definitions\.json)?#/\$defs/([^"]+)"')


def kinds_of(schema):
    """The definitions that are kinds of their own, by the name that kubeconform gives their file."""
    found = {}
    for name, definition in schema["$defs"].items():
        for one in definition.get("x-kubernetes-group-version-kind", []):
            suffix = "-".join(part for part in (one["group"].partition(".")[0], one["version"]) if part)
            found[f"{one['kind']}-{suffix}".lower()] = name
    return found


def write_schema(schema, name, path):
    """One kind, with the definitions that it needs."""
    needed, todo = {}, [name]
    while todo:
        one = todo.pop()
        if one not in needed:
            text = REFERENCE.sub(r'"$ref": "#/$defs/\1"', json.dumps(schema["$defs"][one]))
            needed[one] = json.loads(text)
            todo += REFERENCE.findall(text)
    path.write_text(json.dumps({"$schema": schema["$schema"], "$ref": f"#/$defs/{name}", "$defs": needed}))


def file_of(document):
    """As kinds_of has it."""
    group, _, version = document["apiVersion"].rpartition("/")
    return "-".join(part for part in (document["kind"], group.partition(".")[0], version) if part).lower()


def conform(texts):
    """Compares texts of manifests, by name, with each version's schemas. Returns problems and how much was compared."""
    problems, compared = [], 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, text in texts.items():
            (folder / f"{name}.yaml").write_text(text)
        wanted = {file_of(one) for text in texts.values() for one in documents(text)}
        for path in sorted(SCHEMAS.glob("*.*.json")):
            version, schema = path.stem, json.loads(path.read_text())
            kinds = kinds_of(schema)
            (folder / version).mkdir()
            for kind in sorted(wanted & kinds.keys()):
                write_schema(schema, kinds[kind], folder / version / f"{kind}.json")
            done = subprocess.run(
                [KUBECONFORM, "-strict", "-kubernetes-version", f"{version}.0", "-output", "json", "-summary", "-schema-location",
                 f"{folder / version}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json", *sorted(folder.glob("*.yaml"))],
                capture_output=True, text=True, check=False)
            try:
                told = json.loads(done.stdout)
            except ValueError as error:
                raise LintError(f"kubeconform: {done.stdout}{done.stderr}") from error
            compared += told["summary"]["valid"]
            for one in told["resources"] or []:
                where = Path(one["filename"]).stem
                problems.append(f"{where}: {one['kind']} {one['name']}: Kubernetes {version}: {one['msg']}")
    return problems, compared


# --- what the program says -------------------------------------------------------------------------

@dataclass(frozen=True)
class Program:
    """What manifests may rely on, read from the sources and the manual."""

    routes: frozenset  # that need no key
    settings: frozenset
    secrets: frozenset  # those of them that are never shown
    drain_seconds: int  # from SIGTERM to the end of the process
    user: int
    group: int
    version: str


def only(pattern, path):
    """What the pattern's groups match at its one place in the file."""
    found = re.findall(pattern, (ROOT / path).read_text(), re.M)
    if len(found) != 1:
        raise LintError(f"{path}: expected one place that matches {pattern}, found {len(found)}")
    return found[0]


def read_program():
    routes = re.findall(r'add\(\{"GET", "(/\w+)"[^;]*?&Api::\w+,\s*is_public\)', (ROOT / "src/gateway/api.cpp").read_text())
    settings = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/settings.md").read_text(), re.M)
    if len(routes) < 2 or len(settings) < 50:
        raise LintError(f"read {len(routes)} public routes and {len(settings)} settings; the patterns here do not fit the files")
    user, group = only(r"^USER (\d+):(\d+)$", "deploy/Dockerfile")
    secrets = re.findall(r"^\| `(\w+)` \|.* Never shown\. \|$", (ROOT / "docs/settings.md").read_text(), re.M)
    return Program(frozenset(routes), frozenset(settings), frozenset(secrets),
                   int(only(r"with_drain\{(\d+)\}", "apps/plimsoll/commands/serve_command.cpp")),
                   int(user), int(group), only(r"^project\(plimsoll VERSION ([\d.]+)", "CMakeLists.txt"))


# --- rules -----------------------------------------------------------------------------------------
# Each takes the documents of one rendering and the program, and yields sentences.

def pods(manifests):
    """Pairs (name, pod template) of what makes pods."""
    for one in manifests:
        if one["kind"] in ("Deployment", "StatefulSet"):
            yield one["metadata"]["name"], one["spec"]["template"]


def containers(pod):
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


def is_gateway(container):
    return re.fullmatch(r"(.*/)?plimsoll:[\w.-]+", container["image"]) is not None


def gateways(manifests):
    for name, pod in pods(manifests):
        for container in pod["spec"]["containers"]:
            if is_gateway(container):
                yield name, pod, container


def settings_of(manifests):
    """The settings file of the gateway."""
    for one in manifests:
        if one["kind"] == "ConfigMap" and "plimsoll.toml" in one["data"]:
            return tomllib.loads(one["data"]["plimsoll.toml"])
    return {}


def check_probes(manifests, program):
    for name, _, container in gateways(manifests):
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            get = container.get(probe, {}).get("httpGet")
            if not get:
                yield f"{name}: the gateway has no {probe} by HTTP"
                continue
            if get["path"] not in program.routes:
                yield f"{name}: {probe} asks {get['path']}, which is no route without a key; there are {', '.join(sorted(program.routes))}"
            wanted = "HTTPS" if "tls_certificate_file" in settings_of(manifests) else "HTTP"
            if get.get("scheme", "HTTP") != wanted:
                yield f"{name}: {probe} speaks {get.get('scheme', 'HTTP')}, and the gateway {wanted}"


def check_settings(manifests, program):
    for one in manifests:
        for key in tomllib.loads(one["data"]["plimsoll.toml"]) if one["kind"] == "ConfigMap" else ():
            if key not in program.settings:
                yield f"{one['metadata']['name']}: plimsoll.toml has '{key}', which is no setting"
    for name, pod in pods(manifests):
        for container in filter(is_gateway, containers(pod)):
            for variable in container.get("env", []):
                known = variable["name"].removeprefix("PLIMSOLL_").lower()
                if variable["name"].startswith("PLIMSOLL_") and known not in program.settings | {"config"}:
                    yield f"{name}: {variable['name']} is no setting"


def check_user(manifests, program):
    for name, pod in pods(manifests):
        context = pod["spec"].get("securityContext", {})
        if context.get("runAsNonRoot") is not True or context.get("runAsUser", 0) == 0:
            yield f"{name}: runs as root"
        if any(map(is_gateway, containers(pod))) and (context.get("runAsUser"), context.get("runAsGroup")) != (program.user, program.group):
            yield f"{name}: runs as {context.get('runAsUser')}:{context.get('runAsGroup')}; the image's user is {program.user}:{program.group}"


def check_hardening(manifests, _):
    for name, pod in pods(manifests):
        if pod["spec"].get("automountServiceAccountToken") is not False:
            yield f"{name}: mounts a token of the API server"
        if pod["spec"].get("enableServiceLinks") is not False:
            yield f"{name}: has service links, which set variables that the program refuses"
        if pod["spec"].get("securityContext", {}).get("seccompProfile", {}).get("type") != "RuntimeDefault":
            yield f"{name}: has no seccomp profile"
        for container in containers(pod):
            context = container.get("securityContext", {})
            for key, wanted in (("allowPrivilegeEscalation", False), ("readOnlyRootFilesystem", True)):
                if context.get(key) is not wanted:
                    yield f"{name}/{container['name']}: {key} is not {str(wanted).lower()}"
            if context.get("capabilities", {}).get("drop") != ["ALL"]:
                yield f"{name}/{container['name']}: keeps capabilities"


UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def bytes_of(quantity):
    number, unit = re.fullmatch(r"([\d.]+)(\w*)", str(quantity)).groups()
    return float(number) * UNITS[unit]


def check_resources(manifests, _):
    for name, pod in pods(manifests):
        for container in containers(pod):
            for kind in ("requests", "limits"):
                for what in ("cpu", "memory"):
                    if what not in container.get("resources", {}).get(kind, {}):
                        yield f"{name}/{container['name']}: has no {kind} of {what}"
    settings = settings_of(manifests)
    for name, _, container in gateways(manifests):
        limit = container.get("resources", {}).get("limits", {}).get("memory")
        if limit and bytes_of(limit) < 2 * settings.get("max_memory", 2**31):
            yield f"{name}: the memory limit {limit} is less than twice max_memory, {settings.get('max_memory', 2**31)} bytes"
        for key in ("io_threads", "worker_threads", "embed_threads"):
            if settings.get(key, 0) == 0:
                yield f"{name}: {key} is not set, so there are as many threads as the node has cores"


def check_ending(manifests, program):
    for name, pod, container in gateways(manifests):
        command = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", [])
        if len(command) != 2 or command[0] != "sleep":
            yield f"{name}: preStop does not wait until load balancers know that the pod ends"
            continue
        given = pod["spec"].get("terminationGracePeriodSeconds", 30)
        if given < int(command[1]) + program.drain_seconds:
            yield (f"{name}: is killed after {given} s; preStop takes {command[1]} s and the gateway up to {program.drain_seconds} s")


def check_ports(manifests, _):
    for name, pod in pods(manifests):
        for container in containers(pod):
            named = {port["name"] for port in container.get("ports", [])}
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                port = container.get(probe, {}).get("httpGet", {}).get("port")
                if port and port not in named:
                    yield f"{name}: {probe} asks the port '{port}', which {container['name']} does not have"
    for name, _, container in gateways(manifests):
        listen = settings_of(manifests).get("listen", "")
        if [port["containerPort"] for port in container.get("ports", [])] != [int(listen.rpartition(":")[2] or 0)]:
            yield f"{name}: the gateway listens on '{listen}', which is not the port of its container"
    for one in manifests:
        if one["kind"] == "Service":
            known = {port["name"] for _, pod in selected(one["spec"]["selector"], manifests) for container in pod["spec"]["containers"]
                     for port in container.get("ports", [])}
            for port in one["spec"]["ports"]:
                if port["targetPort"] not in known:
                    yield f"Service {one['metadata']['name']}: no pod has the port '{port['targetPort']}'"


def selected(labels, manifests):
    return [(name, pod) for name, pod in pods(manifests) if labels.items() <= pod["metadata"]["labels"].items()]


def check_selectors(manifests, _):
    for one in manifests:
        name, spec = f"{one['kind']} {one['metadata']['name']}", one.get("spec", {})
        labels = {"Service": lambda: spec["selector"], "PodDisruptionBudget": lambda: spec["selector"]["matchLabels"],
                  "NetworkPolicy": lambda: spec["podSelector"]["matchLabels"], "Deployment": lambda: spec["selector"]["matchLabels"],
                  "StatefulSet": lambda: spec["selector"]["matchLabels"]}.get(one["kind"])
        if labels and len(selected(labels(), manifests)) != 1:
            yield f"{name}: selects {len(selected(labels(), manifests))} kinds of pods, not one"
        if one["kind"] == "HorizontalPodAutoscaler":
            target = [other for other in manifests if (other["kind"], other["metadata"]["name"]) ==
                      (spec["scaleTargetRef"]["kind"], spec["scaleTargetRef"]["name"])]
            if not target:
                yield f"{name}: scales {spec['scaleTargetRef']['name']}, which is not there"
            elif "replicas" in target[0]["spec"]:
                yield f"{name}: {target[0]['metadata']['name']} has `replicas`, which each update would restore"


def check_volumes(manifests, _):
    made = {(one["kind"], one["metadata"]["name"]) for one in manifests}
    for name, pod in pods(manifests):
        volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes", [])}
        claims = next((one["spec"].get("volumeClaimTemplates", []) for one in manifests
                       if one["metadata"]["name"] == name and one["kind"] == "StatefulSet"), [])
        for container in containers(pod):
            places = {mount["mountPath"] for mount in container.get("volumeMounts", []) if not mount.get("readOnly")}
            for mount in container.get("volumeMounts", []):
                if mount["name"] not in volumes.keys() | {claim["metadata"]["name"] for claim in claims}:
                    yield f"{name}/{container['name']}: mounts '{mount['name']}', which is no volume"
            if is_gateway(container) and not {"/data", "/tmp"} <= places:
                yield f"{name}/{container['name']}: may not write to /data and /tmp"
        for volume in volumes.values():
            if "configMap" in volume and ("ConfigMap", volume["configMap"]["name"]) not in made:
                yield f"{name}: the ConfigMap {volume['configMap']['name']} is not made"
        if pod["spec"].get("serviceAccountName") and ("ServiceAccount", pod["spec"]["serviceAccountName"]) not in made:
            yield f"{name}: the ServiceAccount {pod['spec']['serviceAccountName']} is not made"


def check_secrets(manifests, _):
    """Passwords and keys come from Secrets; a Secret that is made here has nothing that anyone chose."""
    for one in manifests:
        if one["kind"] == "ConfigMap" and re.search(r"://[^/\s]*@", json.dumps(one["data"])):
            yield f"ConfigMap {one['metadata']['name']}: has a URL with a password"
    for name, pod in pods(manifests):
        for container in containers(pod):
            for variable in container.get("env", []):
                plain = variable.get("value", "")
                if re.search(r"://[^/@\s]*:[^/@\s]*@|weaviates?://(?!\$\(WEAVIATE_KEY\)@)[^/@]*@", plain) or (re.search(r"PASSWORD|SECRET|_KEY$", variable["name"]) and plain):
                    yield f"{name}/{container['name']}: {variable['name']} has its secret in the manifest"


def check_images(manifests, _):
    """No registry is prescribed, and no image changes by itself."""
    for name, pod in pods(manifests):
        for container in containers(pod):
            registry, _, rest = container["image"].rpartition("/")
            if re.match(r"[^/]*[.:]", registry) or rest.partition(":")[2] in ("", "latest"):
                yield f"{name}/{container['name']}: image {container['image']} names a registry or no version"


def check_network(manifests, _):
    """What the settings send the gateway to can be reached."""
    settings = settings_of(manifests)
    for one in manifests:
        if one["kind"] != "NetworkPolicy" or not any(is_gateway(container) for _, pod in
                                                     selected(one["spec"]["podSelector"]["matchLabels"], manifests) for container in containers(pod)):
            continue
        open_ports = {(port.get("protocol"), port["port"]) for rule in one["spec"]["egress"] for port in rule["ports"]}
        for url, scheme, port in re.findall(r'((https?)://[^/:"]+(?::(\d+))?)', json.dumps(settings)):
            if ("TCP", int(port or {"http": 80, "https": 443}[scheme])) not in open_ports:
                yield f"NetworkPolicy {one['metadata']['name']}: {url} cannot be reached"
        if not {("UDP", 53), ("TCP", 53)} <= open_ports:
            yield f"NetworkPolicy {one['metadata']['name']}: names cannot be resolved"


def check_connections(manifests, _):
    """A PostgreSQL of the release has connections for the most gateways that there can be, with one more during an update."""
    for name, pod in pods(manifests):
        for container in pod["spec"]["containers"]:
            given = re.search(r"max_connections=(\d+)", " ".join(container.get("args", [])))
            if "POSTGRES_DB" not in {variable["name"] for variable in container.get("env", [])}:
                continue
            most = max([one["spec"].get("maxReplicas", one["spec"].get("replicas", 1)) for one in manifests
                        if one["kind"] in ("HorizontalPodAutoscaler", "Deployment")], default=0)
            needed = (most + 1) * settings_of(manifests).get("store_connections", 16) if most else 0
            if int(given[1] if given else 100) <= needed:
                yield f"{name}: has {given[1] if given else 100} connections, and {most + 1} gateways may open {needed}"


def check_nodes(manifests, _):
    """Nodes of Weaviate know each other, and gateways know all of them."""
    for one in manifests:
        if one["kind"] != "StatefulSet" or "weaviate" not in one["spec"]["template"]["spec"]["containers"][0]["image"]:
            continue
        name, count = one["metadata"]["name"], one["spec"]["replicas"]
        variables = {variable["name"]: variable.get("value", "") for variable in one["spec"]["template"]["spec"]["containers"][0]["env"]}
        nodes = [f"{name}-{number}" for number in range(count)]
        if variables["RAFT_BOOTSTRAP_EXPECT"] != str(count) or variables["RAFT_JOIN"] != ",".join(f"{node}:8300" for node in nodes):
            yield f"{name}: {count} nodes wait for {variables['RAFT_BOOTSTRAP_EXPECT']}, and join {variables['RAFT_JOIN']}"
        asked = index_store_of(manifests).partition("@")[2].partition("?")[0]
        wanted = ",".join(f"{node}.{one['spec']['serviceName']}:8080" for node in nodes)
        if asked and asked != wanted:
            yield f"{name}: gateways ask {asked}, and the nodes are {wanted}"


RULES = [check_probes, check_settings, check_user, check_hardening, check_resources, check_ending, check_ports, check_selectors,
         check_volumes, check_secrets, check_images, check_network, check_connections,
         check_nodes]


def problems_of(manifests, program):
    return [problem for rule in RULES for problem in rule(manifests, program)]


# --- what is derived -------------------------------------------------------------------------------

# Settings that the chart sets from other values.
OWN_SETTINGS = {"listen", "open_to_all", "upstreams", "llm_inference_url", "ollama_llm_base_url", "store", "store_file", "tls_certificate_file", "tls_key_file",
                "llm_access_secret", "index_store"}
SCHEMA = CHART / "values.schema.json"

HEADERS = {
    "gateway.yaml": ("external", "templates/(?!postgresql|weaviate)", """\
# The gateway, with its store on a PostgreSQL server. docs/kubernetes.md explains it.
#
# Change before you apply it: `image`, and `upstreams` with the ports in the NetworkPolicy. The Secret plimsoll-store is yours:
#   kubectl create secret generic plimsoll-store --from-literal=url='postgres://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full'
# Pods wait until there is an API key:
#   kubectl exec deployment/plimsoll -c wait-for-key -- plimsoll keys add NAME
"""),
    "postgresql.yaml": ("postgresql", "templates/postgresql", """\
# One PostgreSQL without replicas and without backups, where there is no other. It uses the ServiceAccount of gateway.yaml.
#
#   kubectl create secret generic plimsoll-postgresql --from-literal=password="$PASSWORD"
#   kubectl create secret generic plimsoll-store --from-literal=url="postgres://plimsoll:$PASSWORD@plimsoll-postgresql/plimsoll"
"""),
    "weaviate.yaml": ("weaviate", "templates/weaviate", """\
# Three nodes of Weaviate for the search data of indexes, where there are no others. They use the ServiceAccount of gateway.yaml.
#
#   kubectl create secret generic plimsoll-weaviate --from-literal=key="$KEY"          # letters and digits
#
# RAFT_JOIN and CLUSTER_JOIN name the nodes and the namespace: change `llm` to yours. Then add to both containers in gateway.yaml
#   - {name: WEAVIATE_KEY, valueFrom: {secretKeyRef: {name: plimsoll-weaviate, key: key}}}
#   - {name: PLIMSOLL_INDEX_STORE, value: 'INDEX_STORE'}
# and to the egress of its NetworkPolicy the port 8080.
"""),
}
MADE = "# Made from the chart by `python3 tools/lint_deploy.py --write`.\n"


def index_store_of(manifests):
    """The variable of the gateway that names the nodes; empty: there is none."""
    return next((variable.get("value", "") for _, _, container in gateways(manifests) for variable in container.get("env", [])
                 if variable["name"] == "PLIMSOLL_INDEX_STORE"), "")


def plain_manifest(name):
    """What deploy/kubernetes/<name> must be."""
    variant, which, header = HEADERS[name]
    parts = re.split(r"^---\n# Source: plimsoll/(.*)\n", render("--values", variants()[variant]), flags=re.M)
    chosen = [text.strip("\n") for source, text in zip(parts[1::2], parts[2::2]) if re.match(which, source)]
    header = header.replace("INDEX_STORE'", f"{index_store_of(documents(render('--values', variants()[variant])))}'")
    return header + MADE + "".join(f"---\n{text}\n" for text in chosen)


def schema_with(program):
    """values.schema.json, with the settings that the chart takes as values and from Secrets."""
    schema = json.loads(SCHEMA.read_text())
    schema["properties"]["settings"]["propertyNames"]["enum"] = sorted(program.settings - OWN_SETTINGS - program.secrets)
    names = schema["properties"]["secretEnv"]["items"]["properties"]["name"]["anyOf"]
    names[0]["enum"] = sorted(f"PLIMSOLL_{name.upper()}" for name in program.secrets - OWN_SETTINGS)
    return json.dumps(schema, indent=2) + "\n"


def write(program):
    PLAIN.mkdir(exist_ok=True)
    SCHEMA.write_text(schema_with(program))
    for name in HEADERS:
        (PLAIN / name).write_text(plain_manifest(name))


def check_derived(program):
    if SCHEMA.read_text() != schema_with(program):
        yield f"{SCHEMA.relative_to(ROOT)} does not allow the settings of docs/settings.md; `python3 tools/lint_deploy.py --write` mends it"
    for name in HEADERS:
        path = PLAIN / name
        if not path.exists() or path.read_text() != plain_manifest(name):
            yield f"{path.relative_to(ROOT)} is not what the chart gives; `python3 tools/lint_deploy.py --write` mends it"
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    if {chart["version"], chart["appVersion"]} != {program.version}:
        yield f"Chart.yaml has the version {chart['version']} of the program {chart['appVersion']}, and the program is {program.version}"


def main():
    if not is_set_up():
        raise LintError("Helm, kubeconform, the schemas or PyYAML are missing; `tools/setup deploy` brings them")
    program = read_program()
    if sys.argv[1:] == ["--write"]:
        write(program)
    elif sys.argv[1:]:
        raise LintError(f"unknown argument '{sys.argv[1]}'; there is --write")
    texts = {name: render("--values", path) for name, path in variants().items()}
    plain = "---\n".join((PLAIN / name).read_text() for name in HEADERS)
    problems, compared = conform(texts | {"plain": plain})
    for name, text in (texts | {"plain": plain}).items():
        problems += [f"{name}: {problem}" for problem in problems_of(documents(text), program)]
    problems += check_derived(program)
    for name, path in variants().items():
        done = helm("lint", "--strict", "--quiet", CHART, "--values", path)
        if done.returncode:
            problems.append(f"{name}: helm lint: {done.stdout}{done.stderr}")
    for problem in problems:
        print(problem)
    print(f"deploy: {len(texts)} renderings and the plain manifests, {compared} comparisons with schemas, {len(RULES)} rules: "
          f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LintError as failure:
        print(f"lint_deploy: {failure}", file=sys.stderr)
        sys.exit(2)
