/** A session of a caller with a token is named after the token, and then by 22 signs of its own. */
const SESSION = /^(.+)\/[\w-]{22}$/s;

/**
 * The user behind a caller: the name of the token, the same for all sessions of a user and for HTTP. Undefined without a caller, and for
 * sessions of a server without tokens, which does not know its users.
 */
export function userOf(caller: string | undefined): string | undefined {
  if (caller === undefined) return undefined;
  const user = SESSION.exec(caller)?.[1];
  return user ?? (/^[\w-]{22}$/.test(caller) ? undefined : caller);
}
