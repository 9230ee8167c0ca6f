import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import { setToken } from "./api.js";
import { Contexts } from "./contexts.js";
import { Events } from "./events.js";
import { Hosts } from "./hosts.js";
import { type Live, useLive } from "./live.js";
import { OverviewPage } from "./overview.js";
import { SignIn } from "./sign-in.js";

interface Tab {
  readonly name: string;
  readonly title: string;
  show(live: Live): ComponentChild;
}

const TABS: readonly Tab[] = [
  { name: "overview", title: "Overview", show: (live) => <OverviewPage live={live} /> },
  { name: "hosts", title: "Hosts", show: (live) => <Hosts live={live} /> },
  { name: "contexts", title: "Contexts", show: (live) => <Contexts live={live} /> },
  { name: "events", title: "Events", show: () => <Events /> },
];

function useTab(): Tab {
  const named = () => TABS.find(({ name }) => location.hash.startsWith(`#/${name}`)) ?? (TABS[0] as Tab);
  const [tab, setTab] = useState(named);
  useEffect(() => {
    const changed = () => setTab(named());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return tab;
}

const SAID = {
  connecting: "connecting…",
  live: "live",
  lost: "connection lost, trying again…",
  "signed out": "",
} as const;

export function App() {
  const live = useLive();
  const tab = useTab();
  if (live.connection === "signed out") {
    setToken(null);
    return <SignIn />;
  }
  return (
    <>
      <header>
        <h1>
          Headwater <small>{live.overview?.program}</small>
        </h1>
        <nav aria-label="Views">
          {TABS.map(({ name, title }) => (
            <a key={name} href={`#/${name}`} aria-current={name === tab.name ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <span class={`connection ${live.connection}`} role="status">
          {SAID[live.connection]}
        </span>
      </header>
      <main>{tab.show(live)}</main>
    </>
  );
}
