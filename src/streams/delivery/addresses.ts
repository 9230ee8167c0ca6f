import { lookup as resolve } from "node:dns/promises";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { HeadwaterError } from "../../errors.js";

/** May targets be on this machine or in private networks? Tenants must not reach through the service what they cannot reach themselves. */
export interface AddressPolicy {
  readonly isPrivateAllowed: boolean;
  /** Certificates (PEM) of authorities that may have signed the certificates of `https:` targets, besides the authorities that Node.js knows. */
  readonly ca?: string;
}

const PRIVATE = new BlockList();
for (const [net, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const)
  PRIVATE.addSubnet(net, bits, "ipv4");
for (const [net, bits] of [
  ["::", 96], // with the addresses that stand for IPv4 ones
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 32],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const)
  PRIVATE.addSubnet(net, bits, "ipv6");

/** Is it an address of this machine, of a private network, or of none that can be reached over the internet? */
export function isPrivate(address: string): boolean {
  return PRIVATE.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** The addresses of a host, all of them allowed. A name is looked up at each connection: what it means can change. */
export async function allowedAddresses(
  host: string,
  { isPrivateAllowed }: AddressPolicy,
): Promise<readonly { readonly address: string; readonly family: number }[]> {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  const found =
    isIP(bare) === 0 ? await resolve(bare, { all: true }) : [{ address: bare, family: isIP(bare) }];
  if (!isPrivateAllowed && found.some(({ address }) => isPrivate(address))) throw notAllowed(bare);
  return found;
}

/** The same as Node's `lookup` option: the connection goes to an address that was checked, and no other. */
export function checkedLookup(policy: AddressPolicy): LookupFunction {
  return (host, options, callback) => {
    allowedAddresses(host, policy).then(
      (found) => {
        const [first] = found;
        if (options.all === true) callback(null, [...found]);
        else if (first === undefined) callback(new Error(`${host} has no address`), "", 0);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), "", 0),
    );
  };
}

export function notAllowed(host: string): HeadwaterError {
  return new HeadwaterError(
    "HW-5502",
    `${host} is on this machine or in a private network, and targets there are not allowed. The service's operator can allow them.`,
  );
}
