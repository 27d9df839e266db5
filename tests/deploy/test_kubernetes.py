"""The chart and the manifests for Kubernetes: what values make of them, what is refused, and that each rule can fail."""

import copy
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import lint_deploy  # noqa: E402

PROGRAM = shutil.which("plimsoll")
UPSTREAM = ("--set", "upstreams[0].name=gpu,upstreams[0].url=http://gpu:8000/v1")


def rendered(*arguments, **options):
    """Renders the chart before one model server; each argument is one --set."""
    sets = [part for argument in arguments for part in ("--set", argument)]
    return lint_deploy.documents(lint_deploy.render(*UPSTREAM, *sets, **options))


def one(manifests, kind, name=None):
    found = [each for each in manifests if each["kind"] == kind and name in (None, each["metadata"]["name"])]
    assert len(found) == 1, f"{len(found)} of {kind} {name}"
    return found[0]


def gateway(manifests):
    return one(manifests, "Deployment")["spec"]["template"]["spec"]["containers"][0]


def settings(manifests):
    return tomllib.loads(one(manifests, "ConfigMap")["data"]["plimsoll.toml"])


def environment(container):
    return {variable["name"]: variable for variable in container["env"]}


@unittest.skipUnless(lint_deploy.is_set_up(), "needs `tools/setup deploy`")
class Rendering(unittest.TestCase):
    def test_the_whole_check_finds_nothing(self):
        program = lint_deploy.read_program()
        texts = {name: lint_deploy.render("--values", path) for name, path in lint_deploy.variants().items()}
        problems, compared = lint_deploy.conform(texts)
        self.assertEqual(problems, [])
        self.assertGreater(compared, 100)
        for name, text in texts.items():
            self.assertEqual(lint_deploy.problems_of(lint_deploy.documents(text), program), [], name)
        self.assertEqual(list(lint_deploy.check_derived(program)), [])

    def test_what_there_is_by_default(self):
        made = rendered()
        self.assertEqual(sorted(each["kind"] for each in made),
                         ["ConfigMap", "Deployment", "HorizontalPodAutoscaler", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceAccount"])
        self.assertNotIn("replicas", one(made, "Deployment")["spec"])
        self.assertEqual(environment(gateway(made))["PLIMSOLL_STORE"]["valueFrom"]["secretKeyRef"], {"name": "plimsoll-store", "key": "url"})
        self.assertEqual(settings(made)["upstreams"], ["gpu=http://gpu:8000/v1"])
        self.assertNotIn("open_to_all", settings(made))

    def test_settings_keep_their_types(self):
        told = settings(lint_deploy.documents(lint_deploy.render("--values", lint_deploy.variants()["everything"])))
        self.assertIs(type(told["max_request_bytes"]), int)
        self.assertEqual(told["max_request_bytes"], 33554432)
        self.assertEqual(told["context_safety_margin"], 0.8)
        self.assertIs(told["llm_fallback_enabled"], True)
        self.assertEqual(told["llm_allowed_fallback_models"], ["gpt-5-mini", "gemini-2.5-flash"])
        self.assertEqual(told["upstreams"], ["gpu-a=http://model-server:8000/v1", "openai=https://api.openai.com/v1"])

    def test_text_is_quoted_as_toml_has_it(self):
        said = 'Say "no", or <nothing>; a \\ stays'
        told = settings(lint_deploy.documents(lint_deploy.render(*UPSTREAM, "--set-json", f"settings.passage_instruction={lint_deploy.json.dumps(said)}")))
        self.assertEqual(told["passage_instruction"], said)

    def test_keys_of_upstreams_come_from_secrets(self):
        made = lint_deploy.documents(lint_deploy.render("--values", lint_deploy.variants()["everything"]))
        told = environment(gateway(made))
        self.assertEqual(told["GPU_A_API_KEY"]["valueFrom"]["secretKeyRef"], {"name": "model-server", "key": "key"})
        self.assertEqual(told["OPENAI_API_KEY"]["valueFrom"]["secretKeyRef"]["name"], "openai")
        self.assertEqual(told["PLIMSOLL_ALERT_WEBHOOK"]["valueFrom"]["secretKeyRef"], {"name": "plimsoll-webhook", "key": "url"})
        self.assertEqual(told["PLIMSOLL_OTLP_HEADERS"]["valueFrom"]["secretKeyRef"]["name"], "collector")
        self.assertEqual(told["FACTS_API_KEY"]["valueFrom"]["secretKeyRef"], {"name": "facts", "key": "key"})
        self.assertEqual({"/etc/plimsoll-tls/tls.crt", "/etc/plimsoll-tls/tls.key"},
                         {settings(made)["tls_certificate_file"], settings(made)["tls_key_file"]})

    def test_a_postgresql_of_the_release(self):
        made = rendered("store.mode=bundled")
        database = one(made, "StatefulSet")["spec"]["template"]["spec"]["containers"][0]
        wanted = environment(database)["POSTGRES_PASSWORD"]["valueFrom"]["secretKeyRef"]
        self.assertEqual(environment(gateway(made))["PGPASSWORD"]["valueFrom"]["secretKeyRef"], wanted)
        self.assertEqual(one(made, "Secret")["metadata"]["name"], wanted["name"])
        host = re.search(r"@([\w-]+)/", environment(gateway(made))["PLIMSOLL_STORE"]["value"])[1]
        self.assertEqual(one(made, "Service", host)["spec"]["ports"][0]["port"], 5432)
        owned = rendered("store.mode=bundled", "postgresql.existingSecret=mine")
        self.assertNotIn("Secret", {each["kind"] for each in owned})
        self.assertEqual(environment(gateway(owned))["PGPASSWORD"]["valueFrom"]["secretKeyRef"]["name"], "mine")

    def test_nodes_of_weaviate_of_the_release(self):
        made = rendered("indexStore.mode=bundled")
        nodes = one(made, "StatefulSet", "plimsoll-weaviate")
        self.assertEqual(nodes["spec"]["replicas"], 3)
        wanted = environment(nodes["spec"]["template"]["spec"]["containers"][0])["AUTHENTICATION_APIKEY_ALLOWED_KEYS"]["valueFrom"]["secretKeyRef"]
        self.assertEqual(one(made, "Secret")["metadata"]["name"], wanted["name"])
        told = environment(gateway(made))
        self.assertEqual(told["WEAVIATE_KEY"]["valueFrom"]["secretKeyRef"], wanted)
        names = list(told)
        self.assertLess(names.index("WEAVIATE_KEY"), names.index("PLIMSOLL_INDEX_STORE"), "a variable can name those before it")
        self.assertEqual(told["PLIMSOLL_INDEX_STORE"]["value"],
                         "weaviate://$(WEAVIATE_KEY)@" + ",".join(f"plimsoll-weaviate-{number}.plimsoll-weaviate:8080" for number in range(3)) +
                         "?replication=2")
        waits = one(made, "Deployment")["spec"]["template"]["spec"]["initContainers"][0]
        self.assertEqual(environment(waits), told)
        owned = rendered("indexStore.mode=bundled", "weaviate.existingSecret=mine", "weaviate.replicas=1", "weaviate.copies=1")
        self.assertNotIn("Secret", {each["kind"] for each in owned})
        self.assertEqual(environment(gateway(owned))["WEAVIATE_KEY"]["valueFrom"]["secretKeyRef"]["name"], "mine")

    def test_a_weaviate_elsewhere(self):
        made = rendered("indexStore.mode=external", "indexStore.external.port=9443")
        self.assertEqual(environment(gateway(made))["PLIMSOLL_INDEX_STORE"]["valueFrom"]["secretKeyRef"],
                         {"name": "plimsoll-index-store", "key": "url"})
        ports = [port["port"] for rule in one(made, "NetworkPolicy")["spec"]["egress"] for port in rule["ports"]]
        self.assertIn(9443, ports)
        self.assertNotIn("StatefulSet", {each["kind"] for each in made})

    def test_search_data_has_room_where_it_is_in_the_pods(self):
        def room(*arguments):
            return next(volume["emptyDir"]["sizeLimit"] for volume in one(rendered(*arguments), "Deployment")["spec"]["template"]["spec"]["volumes"]
                        if volume["name"] == "data")
        self.assertEqual(room(), "10Gi")
        self.assertEqual(room("indexStore.local.size=50Gi"), "50Gi")
        self.assertEqual(room("indexStore.mode=external"), "1Gi")

    def test_a_store_in_a_file_is_for_one_gateway(self):
        alone = ("store.mode=file", "replicas=1", "autoscaling.enabled=false")
        made = rendered(*alone)
        self.assertEqual(one(made, "Deployment")["spec"]["strategy"], {"type": "Recreate"})
        self.assertEqual(settings(made)["store_file"], "/data/store.db")
        self.assertEqual(one(made, "PersistentVolumeClaim")["spec"]["resources"]["requests"]["storage"], "10Gi")
        self.assertNotIn("PodDisruptionBudget", {each["kind"] for each in made})
        self.assertNotIn("PersistentVolumeClaim", {each["kind"] for each in rendered(*alone, "store.file.existingClaim=mine")})

    def test_pods_wait_for_a_key_unless_the_gateway_is_open(self):
        self.assertEqual([each["name"] for each in one(rendered(), "Deployment")["spec"]["template"]["spec"]["initContainers"]], ["wait-for-key"])
        opened = rendered("open=true")
        self.assertNotIn("initContainers", one(opened, "Deployment")["spec"]["template"]["spec"])
        self.assertIs(settings(opened)["open_to_all"], True)

    def test_other_settings_make_other_pods(self):
        def mark(*arguments):
            return one(rendered(*arguments), "Deployment")["spec"]["template"]["metadata"]["annotations"]["plimsoll/settings"]
        self.assertEqual(mark(), mark("service.port=81"))
        self.assertNotEqual(mark(), mark("settings.max_top_k=20"))

    def test_two_releases_do_not_share_names_or_pods(self):
        first, second = (rendered("store.mode=bundled", "indexStore.mode=bundled", release=name) for name in "ab")
        names = [{(each["kind"], each["metadata"]["name"]) for each in made} for made in (first, second)]
        self.assertFalse(names[0] & names[1])
        for made in (first, second):
            self.assertEqual(lint_deploy.problems_of(made, lint_deploy.read_program()), [])
        pods = [*lint_deploy.pods([*first, *second])]
        for made in (first, second):
            for each in made:
                if each["kind"] == "Service":
                    self.assertEqual(len([name for name, pod in pods if each["spec"]["selector"].items() <= pod["metadata"]["labels"].items()]), 1)

    def test_the_names_of_a_long_release_are_not_too_long(self):
        for each in rendered("store.mode=bundled", "indexStore.mode=bundled", release="a" * 53):
            self.assertLessEqual(len(each["metadata"]["name"]), 63)

    def test_the_notes_name_what_there_is(self):
        """Helm shows them only where it reaches a cluster; so they are rendered as a value of a copy."""
        with tempfile.TemporaryDirectory() as folder:
            chart = Path(folder) / "plimsoll"
            shutil.copytree(lint_deploy.CHART, chart)
            (chart / "templates" / "NOTES.txt").rename(chart / "notes")
            (chart / "templates" / "notes.yaml").write_text('notes: {{ tpl (.Files.Get "notes") . | quote }}\n')
            for arguments, part in (((), "on its own disk"), (("open=true",), "It is open"), (("indexStore.mode=bundled",), "3 nodes of Weaviate, with 2 copies"),
                                    (("indexStore.mode=external",), "in the Secret plimsoll-index-store"), (("store.mode=bundled",), "without backups"),
                                    (("store.mode=file", "replicas=1", "autoscaling.enabled=false"), "beyond one pod")):
                made = rendered(*arguments, chart=chart)
                (notes,) = [each["notes"] for each in made if "notes" in each]
                self.assertIn(part, " ".join(notes.split()))
                rest = [each for each in made if "notes" not in each]
                for container in re.findall(r"-c ([\w-]+) --", notes):
                    self.assertIn(container, [each["name"] for each in lint_deploy.containers(one(rest, "Deployment")["spec"]["template"])])
                self.assertEqual("-c wait-for-key --" in notes, "open=true" not in arguments)
                self.assertIn(f"svc/{one(rest, 'Service', 'plimsoll')['metadata']['name']} 8000:80", notes)

    def test_plain_manifests_have_no_mark_of_helm_and_no_secret(self):
        for name in lint_deploy.HEADERS:
            made = lint_deploy.documents((lint_deploy.PLAIN / name).read_text())
            self.assertGreaterEqual(len(made), 3)
            self.assertNotIn("Secret", {each["kind"] for each in made})
            self.assertNotIn("Helm", (lint_deploy.PLAIN / name).read_text())


@unittest.skipUnless(lint_deploy.is_set_up(), "needs `tools/setup deploy`")
class Refused(unittest.TestCase):
    def refused(self, part, *arguments):
        with self.assertRaises(lint_deploy.LintError) as caught:
            rendered(*arguments)
        self.assertIn(part, str(caught.exception))

    def test_unknown_values_and_settings(self):
        self.refused("replica", "replica=3")
        self.refused("min_topk", "settings.min_topk=3")
        self.refused("listen", "settings.listen=0.0.0.0:80")
        self.refused("store", "settings.store=postgres://u:p@h/d")
        self.refused("otlp_headers", "settings.otlp_headers=key=value")

    def test_values_of_the_wrong_kind(self):
        self.refused("store.mode", "store.mode=weaviate")
        self.refused("indexStore.mode", "indexStore.mode=file")
        self.refused("replicas", "replicas=0")
        self.refused("cpuPercent", "autoscaling.cpuPercent=high")
        self.refused("size", "store.file.size=ten")
        self.refused("settings.max_top_k", "settings.max_top_k.value=3")
        self.refused("limits", "resources.limits=null")

    def test_servers_that_the_gateway_would_refuse_or_that_show_a_password(self):
        self.refused("url", "upstreams[0].url=gpu:8000")
        self.refused("url", "upstreams[0].url=http://ann:secret@gpu:8000")
        self.refused("name", "upstreams[0].name=GPU 1")

    def test_variables_that_the_program_or_the_chart_would_not_take(self):
        for name in ("PLIMSOLL_MIN_TOPK", "PLIMSOLL_STORE", "PLIMSOLL_INDEX_STORE", "PGPASSWORD", "WEAVIATE_KEY", "lower"):
            self.refused("secretEnv", f"secretEnv[0].name={name},secretEnv[0].secret=a,secretEnv[0].key=b")
        self.refused("llm_inference_url", "settings.llm_inference_url=http://gpu:8000")

    def test_no_model_server(self):
        with self.assertRaises(lint_deploy.LintError) as caught:
            lint_deploy.render()
        self.assertIn("name a model server in `upstreams`", str(caught.exception))

    def test_more_than_one_gateway_on_a_file(self):
        self.refused("store.mode=file is for one gateway", "store.mode=file", "replicas=1")
        self.refused("replicas is 2", "store.mode=file", "autoscaling.enabled=false")

    def test_more_copies_than_nodes(self):
        self.refused("weaviate.copies is 2, and there are 1 nodes", "indexStore.mode=bundled", "weaviate.replicas=1")

    def test_fewer_at_most_than_at_least(self):
        self.refused("minReplicas is greater", "autoscaling.minReplicas=11")


def pod_of(manifests):
    return one(manifests, "Deployment")["spec"]["template"]["spec"]


def probe(path):
    return lambda made: gateway(made)["readinessProbe"]["httpGet"].update(path=path)


def toml(line):
    return lambda made: one(made, "ConfigMap")["data"].update({"plimsoll.toml": one(made, "ConfigMap")["data"]["plimsoll.toml"] + line + "\n"})


def toml_without(word):
    def change(made):
        data = one(made, "ConfigMap")["data"]
        data["plimsoll.toml"] = re.sub(rf"^.*{word}.*\n", "", data["plimsoll.toml"], flags=re.M)
    return change


def listening(text):
    return lambda made: one(made, "ConfigMap")["data"].update(
        {"plimsoll.toml": one(made, "ConfigMap")["data"]["plimsoll.toml"].replace("0.0.0.0:8000", text)})


# Rule, what is broken, a part of what the rule says.
FAULTS = [
    ("check_probes", probe("/healthz"), "asks /healthz"),
    ("check_probes", probe("/metrics"), "asks /metrics"),
    ("check_probes", lambda made: gateway(made).pop("startupProbe"), "no startupProbe"),
    ("check_probes", lambda made: gateway(made)["livenessProbe"]["httpGet"].update(scheme="HTTPS"), "speaks HTTPS"),
    ("check_settings", toml("min_topk = 3"), "'min_topk'"),
    ("check_settings", lambda made: gateway(made)["env"].append({"name": "PLIMSOLL_PORT", "value": "8000"}), "PLIMSOLL_PORT"),
    ("check_user", lambda made: pod_of(made)["securityContext"].update(runAsUser=1000), "the image's user is 999:999"),
    ("check_user", lambda made: pod_of(made)["securityContext"].pop("runAsNonRoot"), "runs as root"),
    ("check_hardening", lambda made: pod_of(made).pop("enableServiceLinks"), "service links"),
    ("check_hardening", lambda made: pod_of(made).pop("automountServiceAccountToken"), "token"),
    ("check_hardening", lambda made: pod_of(made)["securityContext"].pop("seccompProfile"), "seccomp"),
    ("check_hardening", lambda made: gateway(made)["securityContext"].pop("readOnlyRootFilesystem"), "readOnlyRootFilesystem"),
    ("check_hardening", lambda made: pod_of(made)["initContainers"][0]["securityContext"].update(allowPrivilegeEscalation=True), "wait-for-key"),
    ("check_hardening", lambda made: gateway(made)["securityContext"].update(capabilities={"drop": ["NET_RAW"]}), "capabilities"),
    ("check_resources", lambda made: gateway(made)["resources"]["limits"].pop("memory"), "limits of memory"),
    ("check_resources", lambda made: gateway(made)["resources"]["limits"].update(memory="1Gi"), "twice max_memory"),
    ("check_resources", toml_without("worker_threads"), "worker_threads is not set"),
    ("check_ending", lambda made: pod_of(made).update(terminationGracePeriodSeconds=30), "killed after 30 s"),
    ("check_ending", lambda made: pod_of(made).pop("terminationGracePeriodSeconds"), "killed after 30 s"),
    ("check_ending", lambda made: gateway(made).pop("lifecycle"), "preStop"),
    ("check_ports", lambda made: gateway(made)["livenessProbe"]["httpGet"].update(port="http"), "the port 'http'"),
    ("check_ports", listening("0.0.0.0:9000"), "listens on '0.0.0.0:9000'"),
    ("check_ports", lambda made: one(made, "Service", "plimsoll")["spec"]["ports"][0].update(targetPort="http"), "no pod has the port 'http'"),
    ("check_selectors", lambda made: one(made, "PodDisruptionBudget", "plimsoll")["spec"]["selector"]["matchLabels"].update(tier="x"), "selects 0"),
    ("check_selectors", lambda made: one(made, "Service", "plimsoll")["spec"]["selector"].pop("app.kubernetes.io/component"), "selects 3"),
    ("check_selectors", lambda made: one(made, "HorizontalPodAutoscaler")["spec"]["scaleTargetRef"].update(name="x"), "not there"),
    ("check_selectors", lambda made: one(made, "Deployment")["spec"].update(replicas=2), "would restore"),
    ("check_volumes", lambda made: pod_of(made)["volumes"].pop(0), "which is no volume"),
    ("check_volumes", lambda made: gateway(made)["volumeMounts"].pop(1), "may not write to /data"),
    ("check_volumes", lambda made: pod_of(made)["volumes"][0]["configMap"].update(name="x"), "ConfigMap x is not made"),
    ("check_volumes", lambda made: pod_of(made).update(serviceAccountName="x"), "ServiceAccount x is not made"),
    ("check_secrets", toml('memory_providers = ["a=http://u:p@h"]'), "URL with a password"),
    ("check_secrets", lambda made: gateway(made)["env"].append({"name": "GPU_API_KEY", "value": "k"}), "GPU_API_KEY"),
    ("check_secrets", lambda made: environment(gateway(made))["PLIMSOLL_STORE"].update(value="postgres://u:p@h/d"), "PLIMSOLL_STORE"),
    ("check_images", lambda made: gateway(made).update(image="registry.example:5000/plimsoll:0.1.0"), "names a registry"),
    ("check_images", lambda made: gateway(made).update(image="plimsoll:latest"), "no version"),
    ("check_network", lambda made: one(made, "NetworkPolicy", "plimsoll")["spec"]["egress"].pop(1), "cannot be reached"),
    ("check_network", lambda made: one(made, "NetworkPolicy", "plimsoll")["spec"]["egress"].pop(0), "cannot be resolved"),
    ("check_connections", lambda made: one(made, "HorizontalPodAutoscaler")["spec"].update(maxReplicas=30), "31 gateways may open 496"),
    ("check_connections", lambda made: one(made, "StatefulSet", "plimsoll-postgresql")["spec"]["template"]["spec"]["containers"][0].pop("args"), "has 100 connections"),
    ("check_nodes", lambda made: one(made, "StatefulSet", "plimsoll-weaviate")["spec"].update(replicas=5), "5 nodes wait for 3"),
    ("check_nodes", lambda made: environment(gateway(made))["PLIMSOLL_INDEX_STORE"].update(value="weaviate://a@b:8080"), "gateways ask b:8080"),
    ("check_secrets", lambda made: environment(gateway(made))["PLIMSOLL_INDEX_STORE"].update(value="weaviate://key@h:8080"), "PLIMSOLL_INDEX_STORE"),
]


@unittest.skipUnless(lint_deploy.is_set_up(), "needs `tools/setup deploy`")
class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = lint_deploy.read_program()
        cls.good = rendered("store.mode=bundled", "indexStore.mode=bundled")

    def test_each_planted_fault_is_found_by_its_rule(self):
        for rule, break_it, part in FAULTS:
            with self.subTest(rule=rule, part=part):
                check = getattr(lint_deploy, rule)
                self.assertEqual(list(check(self.good, self.program)), [])
                broken = copy.deepcopy(self.good)
                break_it(broken)
                self.assertIn(part, "\n".join(check(broken, self.program)))

    def test_every_rule_has_a_fault(self):
        self.assertEqual({rule for rule, _, _ in FAULTS}, {rule.__name__ for rule in lint_deploy.RULES})

    def test_an_unknown_field_and_a_kind_of_another_version_are_found(self):
        service = lint_deploy.yaml.safe_dump(one(self.good, "Service", "plimsoll"))
        for text, part in ((service.replace("targetPort", "target"), "target"), (service.replace("port: 80", "port: eighty"), "port"),
                           (service.replace("apiVersion: v1", "apiVersion: v2"), "could not find schema")):
            problems, _ = lint_deploy.conform({"broken": text})
            self.assertEqual(len(problems), 3, problems)
            self.assertIn(part, problems[0])

    def test_what_the_program_says_is_read(self):
        self.assertTrue({"/health", "/ready"} <= self.program.routes)
        self.assertNotIn("/metrics", self.program.routes)
        self.assertIn("limits_without_store", self.program.settings)
        self.assertLessEqual({"store", "index_store", "alert_webhook", "otlp_headers"}, self.program.secrets)
        self.assertLess(self.program.secrets, self.program.settings)
        self.assertGreaterEqual(self.program.drain_seconds, 30)


@unittest.skipUnless(lint_deploy.is_set_up(), "needs `tools/setup deploy`")
class Manual(unittest.TestCase):
    """The commands and the values of docs/kubernetes.md."""

    PAGE = (ROOT / "docs" / "kubernetes.md").read_text()

    def check(self, *arguments):
        text = lint_deploy.render(*arguments)
        self.assertEqual(lint_deploy.conform({"page": text})[0], [])
        self.assertEqual(lint_deploy.problems_of(lint_deploy.documents(text), lint_deploy.read_program()), [])
        return lint_deploy.documents(text)

    def test_its_commands_install_what_they_say(self):
        commands = re.findall(r"^helm install plimsoll deploy/helm/plimsoll ((?:.*\\\n)*.*)", self.PAGE, re.M)
        self.assertEqual(len(commands), 4)
        modes = []
        for command in commands:
            made = self.check(*[word for word in shlex.split(command.replace("\\\n", " ")) if word not in ("-n", "llm")])
            modes.append("StatefulSet" if any(each["kind"] == "StatefulSet" for each in made) else "store_file" in settings(made))
        self.assertEqual(modes, [False, "StatefulSet", "StatefulSet", True])

    def test_its_values_are_values(self):
        (block,) = re.findall(r"^```yaml\n(.*?)^```", self.PAGE, re.M | re.S)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(block)
            file.flush()
            made = self.check("--values", file.name)
        self.assertEqual(settings(made)["llm_allowed_fallback_models"], ["gpt-5-mini"])
        self.assertIn("OPENAI_API_KEY", environment(gateway(made)))

    def test_its_figures_are_those_of_the_pods(self):
        deployment = one(rendered(), "Deployment")["spec"]["template"]["spec"]
        container = deployment["containers"][0]
        self.assertEqual(container["startupProbe"]["periodSeconds"] * container["startupProbe"]["failureThreshold"], 120)
        self.assertEqual(container["livenessProbe"]["periodSeconds"] * container["livenessProbe"]["failureThreshold"], 60)
        self.assertIn(f"kills it after {deployment['terminationGracePeriodSeconds']} s", self.PAGE)
        self.assertIn(f"`preStop` waits {container['lifecycle']['preStop']['exec']['command'][1]} s", self.PAGE)
        self.assertIn(f"{len(lint_deploy.variants())} renderings".replace("7", "Seven"), self.PAGE)
        self.assertIn(f"{len(lint_deploy.RULES)} rules".replace("14", "Fourteen"), self.PAGE)
        for version in (path.stem for path in lint_deploy.SCHEMAS.glob("*.*.json")):
            self.assertIn(version, self.PAGE)

    def test_a_postgresql_of_the_release_has_connections_for_more_gateways(self):
        def most(*arguments):
            return one(rendered("store.mode=bundled", *arguments), "StatefulSet")["spec"]["template"]["spec"]["containers"][0]["args"][1]
        self.assertEqual(most(), "max_connections=196")
        self.assertEqual(most("autoscaling.enabled=false", "replicas=3", "settings.store_connections=8"), "max_connections=52")


@unittest.skipUnless(lint_deploy.is_set_up() and PROGRAM, "needs `tools/setup deploy`, and build/plimsoll on the PATH")
class WithTheProgram(unittest.TestCase):
    """What runs in the pods, run here with the settings of a rendering."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.toml = self.folder / "plimsoll.toml"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PLIMSOLL_CONFIG": str(self.toml),
                            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")), "XDG_DATA_HOME": str(self.folder)}

    def use(self, manifests):
        """Writes the settings of a rendering, with paths and an address of this test."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        text = one(manifests, "ConfigMap")["data"]["plimsoll.toml"]
        self.toml.write_text(text.replace("/data/", f"{self.folder}/").replace("0.0.0.0:8000", f"127.0.0.1:{self.port}"))

    def plimsoll(self, *arguments):
        return subprocess.run(["plimsoll", *arguments], env=self.environment, capture_output=True, text=True, check=False, timeout=60)

    def test_the_settings_of_every_rendering_are_accepted(self):
        for name, path in lint_deploy.variants().items():
            with self.subTest(name):
                self.use(lint_deploy.documents(lint_deploy.render("--values", path)))
                done = self.plimsoll("config", "upstreams", "worker_threads", "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("plimsoll.toml", done.stdout)

    def test_pods_wait_until_there_is_a_key(self):
        made = lint_deploy.documents(lint_deploy.render("--values", lint_deploy.variants()["file"]))
        self.use(made)
        waits = one(made, "Deployment")["spec"]["template"]["spec"]["initContainers"][0]
        with subprocess.Popen([*waits["command"], *waits["args"]], env=self.environment, stdout=subprocess.PIPE, text=True) as process:
            self.assertIn("There is no API key yet", process.stdout.readline())
            self.assertIsNone(process.poll())
            self.assertEqual(self.plimsoll("keys", "add", "ann").returncode, 0)
            self.assertEqual(process.wait(30), 0)

    def test_probes_are_answered_without_a_key_and_the_gateway_ends_in_time(self):
        made = lint_deploy.documents(lint_deploy.render("--values", lint_deploy.variants()["file"]))
        self.use(made)
        self.assertEqual(self.plimsoll("keys", "add", "ann").returncode, 0)
        container = gateway(made)
        with subprocess.Popen(container["command"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                start = container["startupProbe"]
                end = time.monotonic() + start["periodSeconds"] * start["failureThreshold"]
                while self.status(start["httpGet"]["path"]) != 200 and time.monotonic() < end:
                    time.sleep(0.1)
                for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                    self.assertEqual(self.status(container[probe]["httpGet"]["path"]), 200, probe)
                self.assertEqual(self.status("/v1/models"), 401)
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(lint_deploy.read_program().drain_seconds), 0)
            finally:
                process.kill()

    def status(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as reply:
                return reply.status
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except OSError:
            return 0


if __name__ == "__main__":
    unittest.main()
