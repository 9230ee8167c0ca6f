import { HeadwaterError } from "../errors.js";
import type { Address } from "../model/address.js";
import { Tracked } from "../model/collections.js";
import { type Store, toRoot, type Version } from "./tracked-version.js";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/**
 * A tracked collection as application code holds it: a version, and methods to look at it. The first change makes the
 * version an open one of its own; when the method ends, that becomes part of the context's state.
 */
export abstract class Live extends Tracked {
  #version: Version | null = null;
  #owner: object | null = null;
  #address: Address | null = null;
  #field = "";
  #isView = false;

  protected abstract empty(): Version;

  /** Becomes what a field of a context holds. */
  attach(version: Version, owner: object, address: Address, field: string): void {
    this.#version = version;
    this.#owner = owner;
    this.#address = address;
    this.#field = field;
  }

  /** Becomes read-only, for a reader. */
  show(version: Version, address: Address, field: string): this {
    this.attach(version, this, address, field);
    this.#isView = true;
    return this;
  }

  /** What a version holds, as a Map, a Set or an array. */
  plainOf(version: Version): unknown {
    this.#version = version;
    return this.plain();
  }

  /** Is this what the field was given, not a collection of another field? */
  isOf(owner: object, field: string): boolean {
    return this.#owner === owner && this.#field === field;
  }

  get isFree(): boolean {
    return this.#owner === null;
  }

  /** The version that it holds; open while a method is changing it. */
  get version(): Version {
    this.#version ??= this.empty();
    return this.#version;
  }

  /** Ends the changes: what it holds is a version for good. */
  freeze(): Version {
    this.#version = this.version.freeze();
    return this.#version;
  }

  get where(): string {
    return this.#address === null ? `a tracked ${this.kind}` : `${this.#address}.${this.#field}`;
  }

  /** The content, if the version is the root. One's own open version can be made the root at any time. */
  protected reach(): Store | null {
    const { version } = this;
    if (version.store === null && version.isOpen) toRoot(version);
    return version.store;
  }

  protected refuseView(): void {
    if (!this.#isView) return;
    throw new HeadwaterError(
      "HW-1104",
      `${this.where} was changed through a view of the state of its context, which is there to be looked at. Start a ` +
        "later event on that context, or let it make the change before it calls.",
    );
  }

  /** The version to change: open, and the root. */
  protected open(): Version {
    this.refuseView();
    const { version } = this;
    if (version.isOpen) toRoot(version);
    else this.#version = version.begin();
    return this.version;
  }

  /** Shown by `console.log` as what it stands for. */
  [INSPECT](_: unknown, options: object, inspect?: (value: unknown, options: object) => string): string {
    const name = `Tracked${this.kind[0]?.toUpperCase()}${this.kind.slice(1)}`;
    return `${name} ${inspect === undefined ? "" : inspect(this.plain(), options)}`;
  }
}
