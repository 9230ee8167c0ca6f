import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type DashboardSession, get, Refused, setToken } from "./api.js";
import { ClusterPage } from "./cluster.js";
import { Contexts } from "./contexts.js";
import { Events } from "./events.js";
import { Hosts } from "./hosts.js";
import { type Live, useLive } from "./live.js";
import { OverviewPage } from "./overview.js";
import { SignIn } from "./sign-in.js";
import { StreamsPage } from "./streams/streams.js";

interface Tab {
  readonly name: string;
  readonly title: string;
  show(live: Live): ComponentChild;
}

/** Views of the program are for operators; streams are for tenants, too. */
function tabsOf({ isOperator, hasStreams, hasCluster, scopes }: DashboardSession): readonly Tab[] {
  const program: readonly Tab[] = [
    { name: "overview", title: "Overview", show: (live) => <OverviewPage live={live} /> },
    { name: "hosts", title: "Hosts", show: (live) => <Hosts live={live} /> },
    { name: "contexts", title: "Contexts", show: (live) => <Contexts live={live} /> },
    ...(hasCluster ? [{ name: "cluster", title: "Cluster", show: () => <ClusterPage /> }] : []),
    { name: "events", title: "Events", show: () => <Events /> },
  ];
  const streams: Tab = { name: "streams", title: "Streams", show: () => <StreamsPage scopes={scopes} /> };
  return [...(isOperator ? program : []), ...(hasStreams ? [streams] : [])];
}

function useTab(tabs: readonly Tab[]): Tab | undefined {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return tabs.find(({ name }) => hash.startsWith(`#/${name}`)) ?? tabs[0];
}

const SAID = {
  connecting: "connecting…",
  live: "live",
  lost: "connection lost, trying again…",
  "signed out": "",
} as const;

const RETRY_MS = 500;

/** What the user may see; null until it is known, and `"signed out"` if the token is not good. */
function useSession(): DashboardSession | "signed out" | null {
  const [session, setSession] = useState<DashboardSession | "signed out" | null>(null);
  useEffect(() => {
    const look = (): void =>
      void get<DashboardSession>("session").then(setSession, (error: unknown) => {
        if (error instanceof Refused && error.status === 401) setSession("signed out");
        else setTimeout(look, RETRY_MS);
      });
    look();
  }, []);
  return session;
}

export function App() {
  const session = useSession();
  if (session === null) return <p>Loading…</p>;
  if (session === "signed out") {
    setToken(null);
    return <SignIn />;
  }
  return session.isOperator ? <OperatorPage session={session} /> : <TenantPage session={session} />;
}

function OperatorPage({ session }: { session: DashboardSession }) {
  const live = useLive();
  if (live.connection === "signed out") {
    setToken(null);
    return <SignIn />;
  }
  return <Views session={session} live={live} />;
}

const NOT_LIVE: Live = { overview: null, seconds: [], notices: [], connection: "live" };

function TenantPage({ session }: { session: DashboardSession }) {
  return <Views session={session} live={NOT_LIVE} />;
}

function Views({ session, live }: { session: DashboardSession; live: Live }) {
  const tabs = tabsOf(session);
  const tab = useTab(tabs);
  return (
    <>
      <header>
        <h1>
          Headwater <small>{live.overview?.program}</small>
        </h1>
        <nav aria-label="Views">
          {tabs.map(({ name, title }) => (
            <a key={name} href={`#/${name}`} aria-current={name === tab?.name ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <span class={`connection ${live.connection}`} role="status">
          {SAID[live.connection]}
        </span>
      </header>
      <main>{tab?.show(live)}</main>
    </>
  );
}
