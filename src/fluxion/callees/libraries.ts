/**
 * What is known of packages, as data. A path is written from the package: `""` is the package itself called (or made with
 * `new`), `".render"` a function of it, `"().render"` a method of what calling it gives. `default` is left out: it means
 * the package itself.
 */
export interface LibraryKnowledge {
  /** No effects, does not change its arguments, and its result shares nothing with them. */
  readonly pure?: readonly string[];
  /** As pure, and the result is an object of the library, known by its path with `()`. */
  readonly makes?: readonly string[];
  /** Changes the object that it is a method of, and nothing else; gives that object back. */
  readonly changes?: readonly string[];
  /** Those of the changing ones whose arguments others can ask the object for, and change then. */
  readonly keeps?: readonly string[];
  /** Those of the pure ones that use up the object that they are a method of. */
  readonly spends?: readonly string[];
  /** Those of the pure ones that give something else each time. */
  readonly varies?: readonly string[];
  /** Those of the pure ones that take long. */
  readonly heavy?: readonly string[];
  /**
   * Those of the pure ones that give their result to their last argument, once, with an error first. They may do so at
   * once or later, so that code may count on neither.
   */
  readonly later?: readonly string[];
  /** An asynchronous call whose last argument is its continuation; without it, a promise. */
  readonly post?: readonly string[];
  /** A call with listeners among its arguments. */
  readonly start?: readonly string[];
  /** Reads files: no part of a stage, but while files are loaded a worker can do it again, and finds the same. */
  readonly reads?: readonly string[];
  /** Gives a handler that calls the given one with what it is given, and passes a rejection to `next`. */
  readonly wraps?: readonly string[];
  /** As pure, but what it gives is a part of the object that it is a method of. */
  readonly gives?: readonly string[];
  /** Does something of which nothing is said, but leaves the library and its objects as they are. */
  readonly leaves?: readonly string[];
  /** Those of the changing ones whose functions are later called with data that others may hold. */
  readonly helps?: readonly string[];
  /** Takes a listener, which is called later with something new. */
  readonly listens?: readonly string[];
  /**
   * Functions that write to some of their arguments, or to what is in them, and which: counted from 0. Templates that run code
   * do so to their data, as far as anybody knows. That shows unless the stage made the argument itself.
   */
  readonly writes?: Readonly<Record<string, readonly number[]>>;
}

const URLS = ["().validateLink", "().normalizeLink", "().normalizeLinkText"];
const RULERS = ["core.ruler", "block.ruler", "inline.ruler", "inline.ruler2"]
  .flatMap((ruler) => ["push", "before", "after", "at"].map((key) => `().${ruler}.${key}`))
  .concat(["().linkify.set", "().linkify.add", "().linkify.tlds"]);

const MARKUP: Record<string, LibraryKnowledge> = {
  "markdown-it": {
    makes: [""],
    pure: ["().render", "().renderInline", "().parse", "().parseInline", ...URLS, "().utils.escapeHtml"],
    changes: ["().use", "().set", "().enable", "().disable", "().configure", ...RULERS],
    heavy: ["().render", "().renderInline"],
    // References and whatever plugins remember go into `env`.
    writes: { "().render": [1], "().renderInline": [1], "().parse": [1], "().parseInline": [1] },
  },
  marked: {
    makes: [".Marked", ".Renderer", ".marked.Renderer", ".Tokenizer", ".marked.Tokenizer"],
    pure: [".marked", ".parse", ".marked.parse", ".parseInline", ".Marked().parse", ".Marked().parseInline"],
    changes: [".use", ".setOptions", ".marked.use", ".marked.setOptions", ".Marked().use"],
    heavy: [".marked", ".parse", ".marked.parse", ".Marked().parse"],
  },
  showdown: {
    makes: [".Converter"],
    pure: [".Converter().makeHtml"],
    changes: [".Converter().setOption", ".Converter().setFlavor", ".setOption", ".setFlavor"],
    heavy: [".Converter().makeHtml"],
  },
  "highlight.js": {
    pure: [".highlight", ".highlightAuto", ".listLanguages"],
    gives: [".getLanguage"],
    changes: [".registerLanguage", ".configure", ".registerAliases"],
    heavy: [".highlight", ".highlightAuto"],
  },
};

const TEMPLATES: Record<string, LibraryKnowledge> = {
  pug: {
    makes: [".compile", ".compileFile"],
    pure: [".compile()", ".compileFile()", ".render", ".renderFile"],
    heavy: [".compile()", ".compileFile()", ".render", ".renderFile"],
    writes: { ".compile()": [0], ".compileFile()": [0], ".render": [1], ".renderFile": [1] },
  },
  ejs: {
    makes: [".compile"],
    pure: [".compile()", ".render", ".escapeXML"],
    heavy: [".compile()", ".render"],
    writes: { ".compile()": [0], ".render": [1] },
  },
  // Its templates run no code but helpers, which are looked at where they are registered.
  handlebars: {
    makes: [".compile", ".create", ".create().compile", ".SafeString"],
    pure: [".compile()", ".create().compile()", ".escapeExpression", ".Utils.escapeExpression"],
    changes: [".registerHelper", ".registerPartial", ".create().registerHelper", ".create().registerPartial"],
    helps: [".registerHelper", ".create().registerHelper"],
    leaves: [".parse", ".precompile", ".template"],
    heavy: [".compile()", ".create().compile()"],
  },
};

const STYLES: Record<string, LibraryKnowledge> = {
  less: {
    pure: [".render"],
    changes: [".functions.functionRegistry.add", ".functions.functionRegistry.addMultiple"],
    heavy: [".render"],
    later: [".render"],
    leaves: [".writeError", ".formatError"],
  },
};

const IMAGES_AND_HASHES: Record<string, LibraryKnowledge> = {
  qrcode: {
    pure: [".toDataURL", ".toString", ".toBuffer", ".create"],
    heavy: [".toDataURL", ".toString", ".toBuffer", ".create"],
    later: [".toDataURL", ".toBuffer"],
  },
  pngjs: {
    makes: [".PNG"],
    pure: [".PNG.sync.read", ".PNG.sync.write"],
    heavy: [".PNG.sync.read", ".PNG.sync.write"],
    writes: { ".PNG": [0], ".PNG.sync.write": [1] }, // fills its options up
  },
  bcryptjs: {
    pure: [".hashSync", ".compareSync", ".genSaltSync", ".hash", ".compare", ".genSalt", ".getRounds"],
    varies: [".hashSync", ".hash", ".genSaltSync", ".genSalt"],
    heavy: [".hashSync", ".compareSync", ".hash", ".compare"],
    later: [".hash", ".compare"],
  },
};

/** What draws or writes; not what loads pictures and fonts from files, or pipes to somewhere else. */
const PDF_METHODS = [
  ..."addPage switchToPage flushPages end save restore text moveDown moveUp list fontSize lineGap rect".split(
    " ",
  ),
  ..."roundedRect circle ellipse polygon path moveTo lineTo bezierCurveTo quadraticCurveTo closePath lineWidth".split(
    " ",
  ),
  ..."lineCap lineJoin miterLimit dash undash stroke fill fillAndStroke clip fillColor strokeColor opacity".split(
    " ",
  ),
  ..."fillOpacity strokeOpacity translate rotate scale transform link underline highlight strike".split(" "),
].map((name) => `().${name}`);

const DATA: Record<string, LibraryKnowledge> = {
  "sanitize-html": {
    pure: ["", ".defaults.allowedTags.concat"],
    heavy: [""],
  },
  "csv-parse/sync": { pure: [".parse"], heavy: [".parse"] },
  "fast-json-patch": {
    pure: [".compare", ".deepClone", ".escapePathComponent", ".unescapePathComponent"],
    heavy: [".compare"],
  },
  // Only what writes: reading leaves number formats behind that writing uses. It puts sheets into books, so both count as written.
  xlsx: {
    pure: [
      ".utils.json_to_sheet",
      ".utils.aoa_to_sheet",
      ".utils.book_new",
      ".utils.book_append_sheet",
      ".write",
    ],
    varies: [".write"],
    heavy: [".write", ".utils.json_to_sheet", ".utils.aoa_to_sheet"],
    writes: {
      ".utils.book_append_sheet": [0, 1],
      ".write": [0, 1],
      ".utils.json_to_sheet": [1],
      ".utils.aoa_to_sheet": [1],
    },
  },
  // Errors of `validate` refer to the document; as instances of a class, they leave no worker.
  graphql: {
    makes: [".buildSchema", ".Source"],
    pure: [".parse", ".print", ".validate", ".printSchema", ".stripIgnoredCharacters"],
    heavy: [".parse", ".print", ".validate"],
  },
  pdfkit: {
    makes: [""],
    varies: [""],
    heavy: [""],
    changes: PDF_METHODS,
    listens: ["().on", "().once"],
  },
  jsonwebtoken: {
    pure: [".sign", ".verify", ".decode"],
    varies: [".sign", ".verify"],
    writes: { ".sign": [0] }, // with `mutatePayload`
  },
};

const SYNC_COMPRESSION = [
  ".gzipSync",
  ".gunzipSync",
  ".deflateSync",
  ".inflateSync",
  ".deflateRawSync",
].concat([".inflateRawSync", ".unzipSync", ".brotliCompressSync", ".brotliDecompressSync"]);
const DIGESTS = [
  ".createHash",
  ".createHmac",
  ".createCipheriv",
  ".createDecipheriv",
  ".createSign",
  ".createVerify",
];
const SLOW_CRYPTO = [".pbkdf2Sync", ".scryptSync", ".hkdfSync", ".generateKeyPairSync", ".generateKeySync"];

const FS_POSTS = [
  "readFile",
  "writeFile",
  "appendFile",
  "stat",
  "lstat",
  "readdir",
  "mkdir",
  "unlink",
  "rename",
]
  .concat(["access", "open", "read", "write", "close", "rm", "rmdir", "copyFile", "mkdtemp", "realpath"])
  .map((name) => `.${name}`);
const DNS_POSTS = ["lookup", "resolve", "resolve4", "resolve6", "resolveMx", "resolveTxt", "reverse"].map(
  (name) => `.${name}`,
);

const NODE: Record<string, LibraryKnowledge> = {
  crypto: {
    makes: DIGESTS,
    pure: [
      ...DIGESTS.map((each) => `${each}().digest`),
      ...DIGESTS.map((each) => `${each}().final`),
      ...DIGESTS.map((each) => `${each}().sign`),
      ...SLOW_CRYPTO,
      ".randomBytes",
      ".randomUUID",
      ".randomInt",
      ".timingSafeEqual",
      ".createHash().copy",
      ".hash",
    ],
    changes: [...DIGESTS.map((each) => `${each}().update`), ".createCipheriv().setAutoPadding"],
    spends: DIGESTS.flatMap((each) => [`${each}().digest`, `${each}().final`, `${each}().sign`]),
    varies: [".randomBytes", ".randomUUID", ".randomInt", ".generateKeyPairSync", ".generateKeySync"],
    heavy: SLOW_CRYPTO,
    post: [".pbkdf2", ".scrypt", ".randomFill", ".generateKeyPair", ".hkdf"],
  },
  zlib: {
    pure: SYNC_COMPRESSION,
    heavy: SYNC_COMPRESSION,
    post: [".gzip", ".gunzip", ".deflate", ".inflate", ".brotliCompress", ".brotliDecompress", ".unzip"],
  },
  path: { pure: [".*", ".posix.*", ".win32.*"] },
  querystring: { pure: [".parse", ".stringify", ".escape", ".unescape"] },
  url: { makes: [], pure: [".parse", ".format", ".fileURLToPath", ".domainToASCII"] },
  util: { pure: [".format", ".inspect", ".isDeepStrictEqual", ".stripVTControlCharacters", ".toUSVString"] },
  fs: { reads: [".readFileSync"], post: [...FS_POSTS, ...FS_POSTS.map((each) => `.promises${each}`)] },
  "fs/promises": { post: FS_POSTS },
  dns: { post: [...DNS_POSTS, ...DNS_POSTS.map((each) => `.promises${each}`)] },
  "dns/promises": { post: DNS_POSTS },
  child_process: { post: [".exec", ".execFile"] },
  http: { start: [".createServer", ".createServer().on"], post: [".get", ".request"] },
  https: { start: [".createServer", ".createServer().on"], post: [".get", ".request"] },
  net: { start: [".createServer"] },
};

const METHODS = "get post put patch delete all use options head param".split(" ");
const ROUTERS = ["()", ".Router()", ".application", "().route()", ".Router().route()"];

const WEB: Record<string, LibraryKnowledge> = {
  express: {
    makes: ["", ".Router", "().route", ".Router().route", ".json", ".urlencoded", ".static", ".text", ".raw"],
    changes: ["().set", "().enable", "().disable", "().engine", "().listen"],
    keeps: ["().set", "().engine"],
    start: ROUTERS.flatMap((router) => METHODS.map((method) => `${router}.${method}`)),
  },
  "raw-body": { post: [""] },
  "express-async-handler": { wraps: [""] },
};

/** Known libraries by the name that they are imported by; `node:` is left out. */
export const LIBRARIES: Readonly<Record<string, LibraryKnowledge>> = {
  ...MARKUP,
  ...TEMPLATES,
  ...STYLES,
  ...IMAGES_AND_HASHES,
  ...DATA,
  ...NODE,
  ...WEB,
};

/** Other names that the same library is imported by. */
export const ALIASES: Readonly<Record<string, string>> = {
  "highlight.js/lib/core": "highlight.js",
  "highlight.js/lib/common": "highlight.js",
  "highlight.js/lib/index.js": "highlight.js",
  "fs-extra": "fs",
  bcrypt: "bcryptjs",
  express4: "express",
};
