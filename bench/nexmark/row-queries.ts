import type { NexmarkQuery } from "./query.js";

const CHANNELS = ["apple", "google", "facebook", "baidu"] as const;

function timeOfDay(hour: number): string {
  if (hour >= 8 && hour <= 18) return "dayTime";
  return hour <= 6 || hour >= 20 ? "nightTime" : "otherTime";
}

/** Queries that look at one row at a time, and the lookup in a table. */
export const ROW_QUERIES: Readonly<Record<string, NexmarkQuery>> = {
  q10: {
    sql: `select auction, bidder, price, date_time, extra, to_char(date_time, 'YYYY-MM-DD') as dt, to_char(date_time, 'HH24:MI') as hm from bid`,
    byHand: ({ bid }, emit) => {
      for (const { auction, bidder, price, date_time, extra } of bid) {
        const text = new Date(date_time).toISOString();
        emit([auction, bidder, price, date_time, extra, text.slice(0, 10), text.slice(11, 16)]);
      }
    },
  },
  q13: {
    sql: `select b.auction, b.bidder, b.price, b.date_time, s.value from bid b join side_input s on b.auction % 1000 = s.key`,
    byHand: ({ bid, side_input }, emit) => {
      const values = new Map(side_input.map(({ key, value }) => [key, value]));
      for (const { auction, bidder, price, date_time } of bid) {
        const value = values.get(auction % 1000);
        if (value !== undefined) emit([auction, bidder, price, date_time, value]);
      }
    },
  },
  q14: {
    sql: `select auction, bidder, 0.908 * price as price,
        case when extract(hour from date_time) >= 8 and extract(hour from date_time) <= 18 then 'dayTime'
          when extract(hour from date_time) <= 6 or extract(hour from date_time) >= 20 then 'nightTime' else 'otherTime' end as bid_time_type,
        date_time, extra, length(extra) - length(replace(extra, 'c', '')) as c_counts
      from bid where 0.908 * price > 1000000 and 0.908 * price < 50000000`,
    byHand: ({ bid }, emit) => {
      for (const { auction, bidder, price, date_time, extra } of bid) {
        const euros = (908 * price) / 1000;
        if (euros <= 1_000_000 || euros >= 50_000_000) continue;
        let count = 0;
        for (let i = 0; i < extra.length; i++) if (extra.charCodeAt(i) === 99) count++;
        const hour = new Date(date_time).getUTCHours();
        emit([auction, bidder, euros, timeOfDay(hour), date_time, extra, count]);
      }
    },
  },
  q21: {
    sql: `select auction, bidder, price, channel, channel_id from (
        select auction, bidder, price, channel, case lower(channel) when 'apple' then '0' when 'google' then '1' when 'facebook' then '2' when 'baidu' then '3'
          else nullif(split_part(split_part(url, 'channel_id=', 2), '&', 1), '') end as channel_id from bid
      ) b where channel_id is not null`,
    byHand: ({ bid }, emit) => {
      for (const { auction, bidder, price, channel, url } of bid) {
        const known = CHANNELS.indexOf(channel.toLowerCase() as (typeof CHANNELS)[number]);
        const id = known >= 0 ? String(known) : /[?&]channel_id=([^&]*)/.exec(url)?.[1];
        if (id !== undefined) emit([auction, bidder, price, channel, id]);
      }
    },
  },
  q22: {
    sql: `select auction, bidder, price, channel, split_part(url, '/', 4) as dir1, split_part(url, '/', 5) as dir2, split_part(url, '/', 6) as dir3 from bid`,
    byHand: ({ bid }, emit) => {
      for (const { auction, bidder, price, channel, url } of bid) {
        const parts = url.split("/");
        emit([auction, bidder, price, channel, parts[3] ?? "", parts[4] ?? "", parts[5] ?? ""]);
      }
    },
  },
};
