declare const HOST: unique symbol;

/** Names a host of a program. A host that replaces a lost one has its name; added hosts have new ones. */
export type HostId = number & { readonly [HOST]: true };
