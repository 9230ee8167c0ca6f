import { Context, isHost } from "headwater";

/** A module that hosts never finish loading. */
if (isHost()) await new Promise(() => setInterval(() => {}, 1000));

export default class Patience extends Context {
  count = 0;
}
