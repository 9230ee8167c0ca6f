import { useEffect, useState } from "preact/hooks";

/** Where in the page its user is: `#/TAB/PART/PART`, so that every view has an address, and Back leads back. */

function placeNow(): readonly string[] {
  const [, ...parts] = location.hash.split("/");
  try {
    return parts.map(decodeURIComponent);
  } catch {
    return []; // not an address that the page has made
  }
}

export function hrefOf(tab: string, ...parts: readonly (string | number)[]): string {
  return `#/${[tab, ...parts].map((each) => encodeURIComponent(each)).join("/")}`;
}

export function go(tab: string, ...parts: readonly (string | number)[]): void {
  location.hash = hrefOf(tab, ...parts);
}

/** The name of the tab and what follows it; nothing at the beginning. */
export function usePlace(): readonly string[] {
  const [place, setPlace] = useState(placeNow);
  useEffect(() => {
    const changed = () => setPlace(placeNow());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return place;
}

export function hrefOfEvent(node: string, ticket: number): string {
  return hrefOf("events", node, ticket);
}

export function hrefOfContext(address: string): string {
  return hrefOf("contexts", address);
}
