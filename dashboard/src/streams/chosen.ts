import { useEffect, useState } from "preact/hooks";

const PREFIX = "#/streams/";

/** The address of a stream in the page. */
export function hrefOf(name: string): string {
  return `${PREFIX}${encodeURIComponent(name)}`;
}

/** The stream or query that the page's address names, so that a link leads to it. */
export function useChosen(): [name: string | null, choose: (name: string | null) => void] {
  const named = () =>
    location.hash.startsWith(PREFIX) ? decodeURIComponent(location.hash.slice(PREFIX.length)) : null;
  const [name, setName] = useState(named);
  useEffect(() => {
    const changed = () => setName(named());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  const choose = (next: string | null) => {
    location.hash = next === null ? PREFIX.slice(0, -1) : hrefOf(next);
  };
  return [name, choose];
}
