/** A value of a program, as the server previews it (`src/state/preview.ts`): what JSON has no word for has a name with "$". */
export function StateTree({ value }: { value: unknown }) {
  return (
    <ul class="state">
      {entriesOf(value).map(([name, item]) => (
        <Item key={name} name={name} value={item} />
      ))}
    </ul>
  );
}

function Item({ name, value }: { name: string; value: unknown }) {
  const entries = entriesOf(value);
  if (entries.length === 0)
    return (
      <li>
        <b>{name}</b> {simple(value)}
      </li>
    );
  return (
    <li>
      <details open={entries.length <= 8}>
        <summary>
          <b>{name}</b> <small>{kindOf(value)}</small>
        </summary>
        <StateTree value={value} />
      </details>
    </li>
  );
}

const SHORT_LENGTH = 200;

/** A value in one line. */
export function shortOf(value: unknown): string {
  const text = entriesOf(value).length === 0 ? simple(value) : JSON.stringify(value);
  return text.length > SHORT_LENGTH ? `${text.slice(0, SHORT_LENGTH)}…` : text;
}

function only(value: unknown): readonly [string, unknown] | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const [first, second] = Object.entries(value);
  return first !== undefined && second === undefined && first[0].startsWith("$") ? first : null;
}

function entriesOf(value: unknown): [string, unknown][] {
  const special = only(value);
  if (special !== null) {
    const [kind, content] = special;
    if (kind === "$map") return (content as [unknown, unknown][]).map(([key, item]) => [label(key), item]);
    if (kind === "$set") return (content as unknown[]).map((item, i) => [String(i), item]);
    return kind === "$plain" || kind === "$error" ? Object.entries(content as object) : [];
  }
  if (Array.isArray(value)) return value.map((item, i) => [String(i), item]);
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

function label(key: unknown): string {
  return typeof key === "string" ? key : JSON.stringify(key);
}

function kindOf(value: unknown): string {
  const special = only(value);
  const entries = entriesOf(value).length;
  if (special !== null) return `${special[0].slice(1)} of ${entries}`;
  return Array.isArray(value) ? `list of ${entries}` : "";
}

function simple(value: unknown): string {
  const special = only(value);
  if (special === null) return JSON.stringify(value);
  const [kind, content] = special;
  if (kind === "$undefined") return "undefined";
  if (kind === "$cut") return `… ${content} more`;
  if (kind === "$owned") return "kept by an engine";
  if (kind === "$map" || kind === "$set") return `empty ${kind.slice(1)}`;
  return String(typeof content === "string" ? content : JSON.stringify(content));
}
