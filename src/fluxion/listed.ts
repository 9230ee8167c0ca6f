/** The list that a table has for a key, made when it is asked for. */
export function listed<K, V>(lists: Map<K, V[]>, key: K): V[] {
  const known = lists.get(key);
  if (known !== undefined) return known;
  const made: V[] = [];
  lists.set(key, made);
  return made;
}
