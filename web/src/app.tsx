import { useEffect, useState } from "preact/hooks";
import { api, setKey, whenRefused } from "./api/client";
import { live } from "./api/live";
import type { Account } from "./api/types";
import { Failure } from "./parts/bits";
import { ConversationPage } from "./pages/conversation";
import { DocumentPage } from "./pages/document";
import { DocumentsPage } from "./pages/documents";
import { EvaluationsPage } from "./pages/evaluations";
import { LivePage } from "./pages/live";
import { MemoryPage } from "./pages/memory";
import { ModelsPage } from "./pages/models";
import { PlaygroundPage } from "./pages/playground";
import { TracePage } from "./pages/trace";
import { UsagePage } from "./pages/usage";
import { link, useRoute, type Route } from "./route";

const pages: [page: string, title: string][] = [
  ["live", "Live"],
  ["playground", "Playground"],
  ["conversation", "Conversations"],
  ["documents", "Documents"],
  ["evaluations", "Evaluations"],
  ["models", "Models"],
  ["memory", "Memory"],
  ["usage", "Usage"],
];

// Which entry of the menu a page belongs to.
const menuOf: Record<string, string> = { trace: "live", document: "documents" };

function Page({ route, account }: { route: Route; account: Account }) {
  const [first = "", second = ""] = route.rest;
  switch (route.page) {
    case "trace":
      return <TracePage key={first} id={first} account={account} />;
    case "playground":
      return <PlaygroundPage />;
    case "conversation":
      return <ConversationPage session={first} />;
    case "documents":
      return <DocumentsPage index={first} />;
    case "document":
      return <DocumentPage index={first} document={second} start={Number(route.query.get("start") ?? 0)} end={Number(route.query.get("end") ?? 0)} />;
    case "evaluations":
      return <EvaluationsPage run={first} />;
    case "models":
      return <ModelsPage />;
    case "memory":
      return <MemoryPage />;
    case "usage":
      return <UsagePage account={account} />;
    default:
      return <LivePage />;
  }
}

export function App() {
  const route = useRoute();
  const [account, setAccount] = useState<Account | null>(null);
  const [needsKey, setNeedsKey] = useState(false);
  const [problem, setProblem] = useState("");

  const load = () =>
    api.account().then(
      (found) => {
        setAccount(found);
        setNeedsKey(false);
        setProblem("");
      },
      (error: Error) => setProblem(error.message),
    );
  useEffect(() => {
    whenRefused(() => {
      setNeedsKey(true);
      setAccount(null);
      live.stop();
    });
    void load();
  }, []);

  if (needsKey) return <Login problem={problem} onKey={(key) => (setKey(key), load())} />;
  if (!account)
    return (
      <main class="centre">
        <Failure text={problem} />
        {problem && (
          <button type="button" onClick={() => void load()}>
            Try again
          </button>
        )}
      </main>
    );
  const current = menuOf[route.page] ?? route.page;
  const leave = () => {
    setKey("");
    live.stop();
    setAccount(null);
    setNeedsKey(true);
  };
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}>
        Skip to the page
      </a>
      <nav aria-label="Pages">
        <a class="brand" href={link("live")}>
          <Mark />
          Plimsoll
        </a>
        <ul>
          {pages.map(([page, title]) => (
            <li key={page}>
              <a href={link(page)} aria-current={page === current ? "page" : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
        <footer>
          {account.key && (
            <>
              <span title="Everything shown belongs to this key">{account.key.name}</span>
              <button type="button" class="quiet" onClick={leave}>
                Log out
              </button>
            </>
          )}
          <small>{account.version}</small>
        </footer>
      </nav>
      <main id="main" tabIndex={-1}>
        <Page route={route} account={account} />
      </main>
    </div>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
      <circle cx="16" cy="16" r="9.5" fill="none" stroke="currentColor" stroke-width="3" />
      <path d="M2 16h28" stroke="currentColor" stroke-width="3" />
    </svg>
  );
}

function Login({ problem, onKey }: { problem: string; onKey: (key: string) => void }) {
  const [key, set] = useState("");
  return (
    <main class="centre">
      <form
        class="card login"
        onSubmit={(event) => {
          event.preventDefault();
          onKey(key.trim());
        }}
      >
        <h1>
          <Mark /> Plimsoll
        </h1>
        <p>This gateway needs a key. It is kept in the memory of this page only; a reload forgets it.</p>
        <label class="field">
          <span>Key</span>
          <input type="password" autocomplete="off" required value={key} onInput={(event) => set(event.currentTarget.value)} placeholder="plk_…" />
        </label>
        <Failure text={key ? problem : ""} />
        <button type="submit" class="primary">
          Log in
        </button>
      </form>
    </main>
  );
}
