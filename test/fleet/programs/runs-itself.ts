import { Context, run } from "headwater";

/** Runs itself wherever it is loaded, which a host must not do. */
export default class Eager extends Context {
  hello() {
    return "hello";
  }
}

export const service = run(Eager, { hosts: 2, module: import.meta.url });
await service;
