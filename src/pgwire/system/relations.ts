import type { SqlType } from "../../sql/index.js";
import { oidOf, sizeOf } from "../types.js";
import type { Relationlike, SystemValue } from "./value.js";

/** A table or a view that a reader can ask, as the system catalog shows it. */
export interface SystemRelation {
  readonly name: string;
  /** In PostgreSQL's letters: a table, a materialized view, or a view. */
  readonly kind: "r" | "m" | "v";
  readonly columns: readonly { readonly name: string; readonly type: SqlType; readonly nullable: boolean }[];
  /** The columns of its primary key. */
  readonly key: readonly number[];
  readonly definition: string | null;
}

export interface About {
  readonly user: string;
  readonly database: string;
  readonly version: string;
}

/** What a system query is answered from. */
export interface Known {
  readonly about: About;
  readonly relations: readonly SystemRelation[];
  readonly tables: ReadonlyMap<string, Relationlike>;
}

type Row = Readonly<Record<string, SystemValue>>;

const OWNER = 10;
const PUBLIC = 2200;
const CATALOG = 11;
const DATABASE = 16_000;
const FIRST_OID = 16_384;
const SCHEMAS: readonly (readonly [number, string])[] = [
  [CATALOG, "pg_catalog"],
  [PUBLIC, "public"],
  [13_000, "information_schema"],
];

/** PostgreSQL's name of a type for people, and for itself. */
export const TYPES: readonly (readonly [type: SqlType, shown: string, category: string])[] = [
  ["bool", "boolean", "B"],
  ["int8", "bigint", "N"],
  ["int2", "smallint", "N"],
  ["int4", "integer", "N"],
  ["text", "text", "S"],
  ["json", "json", "U"],
  ["float4", "real", "N"],
  ["float8", "double precision", "N"],
  ["date", "date", "D"],
  ["timestamp", "timestamp without time zone", "D"],
  ["timestamptz", "timestamp with time zone", "D"],
  ["interval", "interval", "T"],
  ["numeric", "numeric", "N"],
  ["uuid", "uuid", "U"],
  ["jsonb", "jsonb", "U"],
];

export function shownType(type: SqlType): string {
  return TYPES.find(([name]) => name === type)?.[1] ?? type;
}

/** Relations get numbers in the order of their names; a primary key has one, too, as its index. */
export function oidOfRelation(relations: readonly SystemRelation[], name: string): number | null {
  const place = relations.findIndex((each) => each.name === name);
  return place < 0 ? null : FIRST_OID + 2 * place;
}

export function knownOf(about: About, given: readonly SystemRelation[]): Known {
  const relations = given.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const tables = new Map<string, Relationlike>();
  const add = (name: string, rows: readonly Row[]) =>
    tables.set(name, { rows, columns: Object.keys(rows[0] ?? {}), isOpen: rows.length === 0 });
  const oids = relations.map((relation) => ({ relation, oid: oidOfRelation(relations, relation.name) ?? 0 }));
  const keyed = oids.filter(({ relation }) => relation.key.length > 0);
  const classes = oids.map(({ relation, oid }) =>
    classRow(oid, relation.name, relation.kind, relation.columns.length, relation.key.length > 0),
  );
  const indexes = keyed.map(({ relation, oid }) =>
    classRow(oid + 1, `${relation.name}_pkey`, "i", relation.key.length, false),
  );
  add("pg_catalog.pg_class", [...classes, ...indexes]);
  add(
    "pg_catalog.pg_attribute",
    oids.flatMap(({ relation, oid }) => attributeRows(relation, oid)),
  );
  add(
    "pg_catalog.pg_index",
    keyed.map(({ relation, oid }) => indexRow(relation, oid)),
  );
  add(
    "pg_catalog.pg_constraint",
    keyed.map(({ relation, oid }) => constraintRow(relation, oid)),
  );
  add(
    "pg_catalog.pg_namespace",
    SCHEMAS.map(([oid, nspname]) => ({ oid, nspname, nspowner: OWNER, nspacl: null })),
  );
  add("pg_catalog.pg_type", TYPES.map(typeRow));
  add("pg_catalog.pg_am", [{ oid: 2, amname: "heap", amhandler: "heap_tableam_handler", amtype: "t" }]);
  const role = {
    rolname: about.user,
    rolsuper: false,
    rolinherit: true,
    rolcreaterole: false,
    rolcreatedb: false,
  };
  add("pg_catalog.pg_roles", [
    {
      oid: OWNER,
      ...role,
      rolcanlogin: true,
      rolreplication: false,
      rolconnlimit: -1,
      rolvaliduntil: null,
      rolbypassrls: false,
    },
  ]);
  add("pg_catalog.pg_user", [{ usename: about.user, usesysid: OWNER, usesuper: false, usecreatedb: false }]);
  const database = {
    oid: DATABASE,
    datname: about.database,
    datdba: OWNER,
    encoding: 6,
    datlocprovider: "c",
    datacl: null,
  };
  add("pg_catalog.pg_database", [
    {
      ...database,
      datcollate: "C",
      datctype: "C",
      daticulocale: null,
      datistemplate: false,
      datallowconn: true,
      datconnlimit: -1,
    },
  ]);
  add(
    "pg_catalog.pg_tables",
    relations.filter(({ kind }) => kind === "r").map(({ name }) => listed("tablename", name, about)),
  );
  add(
    "pg_catalog.pg_matviews",
    relations.filter(({ kind }) => kind === "m").map(({ name }) => listed("matviewname", name, about)),
  );
  add(
    "pg_catalog.pg_views",
    relations.filter(({ kind }) => kind === "v").map(({ name }) => listed("viewname", name, about)),
  );
  const place = { table_catalog: about.database, table_schema: "public" };
  add(
    "information_schema.tables",
    relations.map(({ name, kind }) => ({
      ...{
        ...place,
        table_name: name,
        table_type: kind === "r" ? "BASE TABLE" : "VIEW",
        is_insertable_into: "NO",
      },
    })),
  );
  add(
    "information_schema.columns",
    relations.flatMap((relation) => columnRows(relation, place)),
  );
  add(
    "information_schema.views",
    relations
      .filter(({ kind }) => kind !== "r")
      .map(({ name, definition }) => ({
        ...place,
        table_name: name,
        view_definition: definition,
        is_updatable: "NO",
      })),
  );
  add(
    "information_schema.schemata",
    SCHEMAS.map(([, name]) => ({
      catalog_name: about.database,
      schema_name: name,
      schema_owner: about.user,
    })),
  );
  add(
    "information_schema.table_constraints",
    keyed.map(({ relation: { name } }) => ({
      ...{ ...place, table_name: name, constraint_schema: "public", constraint_name: `${name}_pkey` },
      constraint_type: "PRIMARY KEY",
    })),
  );
  add(
    "information_schema.key_column_usage",
    keyed.flatMap(({ relation: { name, key, columns } }) =>
      key.map((at, i) => ({
        ...{ ...place, table_name: name, constraint_schema: "public", constraint_name: `${name}_pkey` },
        ...{ column_name: columns[at]?.name ?? "", ordinal_position: i + 1 },
      })),
    ),
  );
  return { about, relations, tables };
}

function classRow(
  oid: number,
  relname: string,
  relkind: string,
  relnatts: number,
  relhasindex: boolean,
): Row {
  return {
    ...{
      oid,
      relname,
      relkind,
      relnatts,
      relhasindex,
      relnamespace: PUBLIC,
      relowner: OWNER,
      relam: relkind === "v" ? 0 : 2,
    },
    ...{
      relchecks: 0,
      relhasrules: false,
      relhastriggers: false,
      relrowsecurity: false,
      relforcerowsecurity: false,
    },
    ...{
      relispartition: false,
      reltablespace: 0,
      reloftype: 0,
      relpersistence: "p",
      relreplident: "d",
      reltoastrelid: 0,
    },
    ...{
      reloptions: null,
      relpartbound: null,
      relacl: null,
      reltuples: -1,
      relpages: 0,
      relfilenode: oid,
      reltype: 0,
    },
    ...{ relispopulated: true, relisshared: false, relhassubclass: false, relallvisible: 0 },
  };
}

function attributeRows({ columns }: SystemRelation, attrelid: number): Row[] {
  return columns.map(({ name, type, nullable }, i) => ({
    ...{ attrelid, attname: name, attnum: i + 1, atttypid: oidOf(type), atttypmod: -1, attlen: sizeOf(type) },
    ...{ attnotnull: !nullable, atthasdef: false, attisdropped: false, attidentity: "", attgenerated: "" },
    ...{
      attcollation: 0,
      attstorage: "p",
      attcompression: "",
      attstattarget: -1,
      attndims: 0,
      attislocal: true,
      attinhcount: 0,
    },
    ...{
      attacl: null,
      attoptions: null,
      attfdwoptions: null,
      atthasmissing: false,
      attbyval: false,
      attalign: "d",
    },
  }));
}

function indexRow({ key }: SystemRelation, indrelid: number): Row {
  return {
    ...{
      indexrelid: indrelid + 1,
      indrelid,
      indnatts: key.length,
      indnkeyatts: key.length,
      indisunique: true,
    },
    ...{
      indisprimary: true,
      indisclustered: false,
      indisvalid: true,
      indisready: true,
      indislive: true,
      indisreplident: false,
    },
    ...{
      indkey: key.map((at) => at + 1),
      indpred: null,
      indexprs: null,
      indisexclusion: false,
      indimmediate: true,
    },
  };
}

function constraintRow({ name, key }: SystemRelation, conrelid: number): Row {
  return {
    ...{
      oid: conrelid + 1,
      conname: `${name}_pkey`,
      contype: "p",
      conrelid,
      conindid: conrelid + 1,
      connamespace: PUBLIC,
    },
    ...{
      condeferrable: false,
      condeferred: false,
      convalidated: true,
      conkey: key.map((at) => at + 1),
      confkey: null,
    },
    ...{ confrelid: 0, conparentid: 0 },
  };
}

function typeRow([type, , typcategory]: (typeof TYPES)[number]): Row {
  return {
    ...{
      oid: oidOf(type),
      typname: type,
      typnamespace: CATALOG,
      typowner: OWNER,
      typlen: sizeOf(type),
      typtype: "b",
      typcategory,
    },
    ...{
      typisdefined: true,
      typdelim: ",",
      typrelid: 0,
      typelem: 0,
      typarray: 0,
      typbasetype: 0,
      typtypmod: -1,
      typndims: 0,
    },
    ...{
      typcollation: 0,
      typnotnull: false,
      typdefault: null,
      typinput: `${type}in`,
      typreceive: `${type}recv`,
    },
  };
}

function listed(label: string, name: string, { user }: About): Row {
  const owner = label.replace("name", "owner");
  return {
    schemaname: "public",
    [label]: name,
    [owner]: user,
    definition: null,
    hasindexes: false,
    tablespace: null,
  };
}

function columnRows({ name, columns }: SystemRelation, place: Row): Row[] {
  return columns.map((column, i) => ({
    ...{
      ...place,
      table_name: name,
      column_name: column.name,
      ordinal_position: i + 1,
      column_default: null,
    },
    ...{
      is_nullable: column.nullable ? "YES" : "NO",
      data_type: shownType(column.type),
      udt_name: column.type,
    },
    ...{
      udt_schema: "pg_catalog",
      character_maximum_length: null,
      numeric_precision: null,
      numeric_scale: null,
    },
    ...{ datetime_precision: null, is_identity: "NO", is_generated: "NEVER", is_updatable: "NO" },
  }));
}
