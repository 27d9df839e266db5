// Pages by the fragment of the address: "#/trace/019a".
import { useEffect, useState } from "preact/hooks";

export interface Route {
  page: string;
  rest: string[];
  query: URLSearchParams;
}

export function routeOf(fragment: string): Route {
  const [path = "", query = ""] = fragment.replace(/^#\/?/, "").split("?", 2);
  const [page = "", ...rest] = path.split("/").map(decoded);
  return { page: page || "live", rest, query: new URLSearchParams(query) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function link(page: string, ...rest: string[]): string {
  return `#/${[page, ...rest].map(encodeURIComponent).join("/")}`;
}

// Where a document is opened at a passage.
export function documentLink(index: string, document: string, start = 0, end = 0): string {
  return `${link("document", index, document)}?start=${start}&end=${end}`;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const changed = () => setRoute(routeOf(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
