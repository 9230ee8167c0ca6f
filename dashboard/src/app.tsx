import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type DashboardSession, get, Refused, setToken } from "./api.js";
import { ClusterPage } from "./cluster.js";
import { Contexts } from "./contexts.js";
import { Events } from "./events.js";
import { Hosts } from "./hosts.js";
import { type Live, useLive } from "./live.js";
import { Announced } from "./notices.js";
import { OverviewPage } from "./overview.js";
import { hrefOf, usePlace } from "./place.js";
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
  if (session === null) return <main class="faint">Loading…</main>;
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
  const [named] = usePlace();
  const tab = tabs.find(({ name }) => name === named) ?? tabs[0];
  const program = shortName(live.overview?.program ?? "");
  useEffect(() => {
    document.title = `${tab?.title ?? ""} · ${program === "" ? "" : `${program} · `}Headwater`;
  }, [tab?.title, program]);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the view
      </button>
      <header>
        <p class="brand">
          <img src="./icon.svg" alt="" width={20} height={20} /> Headwater{" "}
          <small title={live.overview?.program}>{program}</small>
        </p>
        <nav aria-label="Views">
          {tabs.map(({ name, title }) => (
            <a key={name} href={hrefOf(name)} aria-current={name === tab?.name ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <span class={`connection ${live.connection}`} role="status" aria-label="Connection">
          {SAID[live.connection]}
        </span>
      </header>
      <main id="main" tabIndex={-1}>
        <h1 class="unseen">{tab?.title}</h1>
        {tab?.show(live)}
      </main>
      <Announced notices={live.notices} />
    </>
  );
}

/** A path from elsewhere is long; its end tells the programs apart. */
function shortName(program: string): string {
  return program.split(/[\\/]/).slice(-2).join("/");
}
