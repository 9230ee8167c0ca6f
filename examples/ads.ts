import { Context, readonly, tracked } from "headwater";
import { SealedPartition, Sequencer } from "headwater/coordination";

/**
 * The ad network of Blazes (section VI.B) over several logical nodes: ad servers log clicks, and send them to three replicas of a
 * reporting server, which answers the query CAMPAIGN: the ads of a campaign with few clicks. Three ways to process clicks:
 *
 * - `none`: as they come; replicas may answer differently on the way.
 * - `seal`: a campaign is processed when the ad servers that log clicks for it have all sealed it.
 * - `order`: each click gets its place in one order from one logical node before its server logs the next one.
 */
export type Strategy = "none" | "seal" | "order";

export const REPORTS = ["Report1", "Report2", "Report3"] as const;
export const SERVERS_MAX = 10;

export interface Burst {
  readonly campaign: string;
  /** The ads that were clicked. */
  readonly ads: readonly string[];
  /** The servers that log clicks for the campaign. */
  readonly servers: readonly string[];
}

/** One click with the server that logged it. */
interface Click {
  readonly server: string;
  readonly campaign: string;
  readonly ad: string;
}

export class AdServer extends Context {
  waiting = tracked.map<number, Click>();
  logged = 0;
  sent = 0;
  isWaiting = false;

  /** Clicks for one campaign, after which this server has none for it any more. */
  log(server: string, burst: Burst, strategy: Strategy) {
    const { campaign, ads } = burst;
    if (strategy === "order") {
      for (const ad of ads) this.waiting.set(this.logged++, { server, campaign, ad });
      if (!this.isWaiting) this.ordered();
      return;
    }
    for (const report of REPORTS)
      this.event.send(this.event.peer(Report, report)).take(server, burst, strategy === "seal");
  }

  /** The last click has its place; the next one is sent to get its own. */
  ordered() {
    const next = this.waiting.get(this.sent);
    this.isWaiting = next !== undefined;
    if (next === undefined) return;
    this.waiting.delete(this.sent);
    this.sent += 1;
    this.event.send(this.event.peer(Order)).submit(next);
  }
}

/** The clicks of one campaign. */
export class Campaign extends SealedPartition<readonly string[]> {
  clicks: Record<string, number> = {};

  protected process(bursts: readonly (readonly string[])[]) {
    for (const ads of bursts) this.add(ads);
  }

  add(ads: readonly string[]) {
    for (const ad of ads) this.clicks[ad] = (this.clicks[ad] ?? 0) + 1;
    return ads.length;
  }

  /** How many clicks were processed by that. */
  async share(server: string, { ads, servers }: Burst): Promise<number> {
    await this.expect(servers);
    await this.take(server, 0, ads);
    await this.seal(server, 1);
    return this.done ? Object.values(this.clicks).reduce((sum, count) => sum + count, 0) : 0;
  }

  @readonly poor(limit: number) {
    return Object.keys(this.clicks)
      .filter((ad) => (this.clicks[ad] ?? 0) < limit)
      .sort();
  }
}

export class Report extends Context {
  campaigns = this.children(Campaign);
  processed = 0;

  async take(server: string, burst: Burst, isSealed: boolean) {
    const campaign = this.campaigns(burst.campaign);
    this.processed += await (isSealed ? campaign.share(server, burst) : campaign.add(burst.ads));
  }

  async takeInOrder(click: Click) {
    this.processed += await this.campaigns(click.campaign).add([click.ad]);
  }

  @readonly count() {
    return this.processed;
  }

  @readonly async poor(campaigns: readonly string[], limit: number) {
    return await Promise.all(campaigns.map((campaign) => this.campaigns(campaign).poor(limit)));
  }
}

/** One order for all clicks, the same for all replicas. */
export class Order extends Sequencer<Click> {
  protected deliver(_: number, click: Click) {
    for (const report of REPORTS) this.event.send(this.event.peer(Report, report)).takeInOrder(click);
    this.event.send(this.event.peer(AdServer, click.server)).ordered();
  }
}

export const SERVERS = Array.from({ length: SERVERS_MAX }, (_, i) => `Ads${i + 1}`);

const servers = Object.fromEntries(SERVERS.map((name) => [name, AdServer]));
const reports = Object.fromEntries(REPORTS.map((name) => [name, Report]));

export default { ...servers, ...reports, Order } as Readonly<
  Record<string, typeof AdServer | typeof Report | typeof Order>
>;
