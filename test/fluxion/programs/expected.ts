/** What is asked of a program, and what the compiler must make of it. */
export interface Expected {
  /** Functions that must run in workers. */
  readonly isolates?: readonly string[];
  /** Functions that must stay on the main loop, and words of the reason. */
  readonly refuses?: Readonly<Record<string, RegExp>>;
  /** `METHOD /path`, and a body behind that. Each is sent alone, then all of them at once through one connection. */
  readonly requests?: readonly string[];
  /** Only one after the other: what they answer depends on their order in time. */
  readonly alone?: true;
  readonly args?: readonly string[];
  /** It reads its own text, or loads files by names that are only known then, so that it is another one in a folder. */
  readonly bound?: true;
}

const get = (...paths: string[]) => paths.map((path) => `GET ${path}`);

/** One program for each feature of the language or hazard. */
export const expected: Readonly<Record<string, Expected>> = {
  // whole parts
  "whole-handler.cjs": { isolates: ["handler"], requests: get("/?by=3", "/?by=x", "/none") },
  "whole-handler-esm.mjs": { isolates: ["handler"], requests: get("/?text=a+b+c", "/") },
  "whole-handler-typed.ts": { isolates: ["handler"], requests: get("/?text=x,y,z", "/") },
  "express4-handler.cjs": { isolates: ["handler"], requests: get("/lambda", "/%C3%A9a") },
  "named-handler.cjs": { isolates: ["handler"], requests: get("/", "/?n=3") },
  "handler-in-variable.mjs": { isolates: ["handler"], requests: get("/?a=1&a=2&b", "/") },
  "mutual-recursion.cjs": { isolates: ["handler"], requests: get("/10", "/7") },
  "written-response.cjs": { isolates: ["handler"], requests: get("/a", "/b?c") },
  "head-written.mjs": { isolates: ["handler"], requests: ["GET /a", "HEAD /b", "PUT /c body"] },
  "chained-response.cjs": { isolates: ["handler"], requests: get("/") },
  "middleware.cjs": { isolates: ["parse"], requests: get("/a/b", "/") },
  "next-with-error.cjs": { isolates: ["check"], requests: get("/?token=t", "/?token=x") },
  "console-order.cjs": { isolates: ["handler"], requests: get("/?n=1", "/?n=2"), alone: true },
  "buffer-result.mjs": { isolates: ["handler"], requests: get("/?fill=ab") },
  "header-reads.cjs": { isolates: ["handler"], requests: get("/?a=b") },
  "early-return.cjs": { isolates: ["handler"], requests: get("/?n=x", "/?n=-1", "/?n=3", "/?n=4", "/?n=5") },
  "patterns.mjs": { isolates: ["handler"], requests: get("/abc?b=2&c=3", "/x?a=") },
  "local-class.ts": { isolates: ["handler"], requests: get("/?text=stack") },
  "local-generator.mjs": { isolates: ["handler"], requests: get("/?max=40") },
  "heavy-comment.cjs": { isolates: ["handler"], requests: get("/?n=1") },
  "async-handler.mjs": { isolates: ["handler"], requests: get("/?by=2", "/?by=0") },
  "async-wrapper.mjs": { isolates: ["handler"], requests: get("/?by=2", "/?by=0") },
  "routes-listed.mjs": { isolates: ["handler", "other"], requests: get("/a?text=b", "/b?text=c", "/c?text=d") },
  "bin/www": { isolates: ["handler"], requests: get("/?text=abc") },
  "text-of-file.cjs": { isolates: ["handler"], requests: get("/?text=abc") },
  "text-changed.cjs": { requests: get("/?text=abc") },
  "changed-while-awaited.mjs": { isolates: ["handler"], requests: get("/?n=4") },
  // calls that are given their continuation
  "posted-call.cjs": {
    isolates: ["less.render", "bcrypt.hash", "QRCode.toDataURL"],
    requests: get(
      "/style?text=a{b{color:red}}",
      "/style?small&text=a{b{color:red}}",
      "/style?text=a{b",
      "/password?password=p",
      "/password?password=none",
      "/code?text=hello",
      "/code?text=",
    ),
    alone: true,
  },
  "posted-call-throws.cjs": {
    isolates: ["less.render"],
    requests: get("/?text=a{b{color:red}}", "/"),
  },
  "posted-then-more.cjs": {
    refuses: {
      "less.render()": /goes on after[^]*goes on after[^]*to the caller of[^]*a function to less\.render[^]*uses `this`/,
    },
    requests: get("/?text=a{b{color:red}}", "/both", "/tried", "/self", "/plugged?text=a{b{color:red}}"),
  },
  // what a stage needs of its module
  "helper-file.cjs": { isolates: ["handler"], requests: get("/?text=hey") },
  "helper-module.mjs": { isolates: ["handler"], requests: get("/?key=a", "/?key=c") },
  "instance-of-file.cjs": { isolates: ["handler"], requests: get("/?n=3", "/?n=0") },
  "constant-table.ts": { isolates: ["handler"], requests: get("/") },
  "markdown.mjs": { isolates: ["handler"], requests: ["POST / # title\n\nsome *text* http://a.b"] },
  "markdown-highlight.cjs": { isolates: ["handler"], requests: ["POST / ```js\nlet a = 1;\n```"] },
  "crypto-sync.cjs": { isolates: ["handler"], requests: get("/?password=p") },
  "zlib-sync.mjs": { isolates: ["handler"], requests: get("/?n=1000", "/?n=-1") },
  "templates.cjs": {
    isolates: ["byEjs", "byHandlebars", "byMarked", "byPug", "byShowdown"],
    requests: get(
      "/ejs?name=a%3Cb",
      "/handlebars?name=a%3Cb",
      "/marked?name=ab",
      "/pug?name=a%3Cb",
      "/showdown?name=ab",
    ),
  },
  "library-built.cjs": {
    isolates: ["byRule", "byMarked", "byHelper", "ownEnv"],
    refuses: { keepsEnv: /writes hits/, "md.render()": /it changes what/, counts: /it changes what ejs/ },
    requests: get("/md?name=a", "/marked?name=a", "/handlebars?name=a", "/env", "/ejs", "/own"),
  },
  "picture.mjs": { isolates: ["handler"], requests: get("/?size=8", "/?size=x") },
  "pure-comment.cjs": { isolates: ["handler"], requests: get("/?text=A+B") },
  // errors
  "throws-express5.cjs": { isolates: ["handler"], requests: get("/", "/?ok") },
  "throws-express4.cjs": {
    isolates: ["handler"],
    requests: get('/?json={"name":"ada"}', "/?json={", "/?json=1"),
  },
  "own-error-class.mjs": { isolates: ["handler"], requests: get("/abc", "/abcd") },
  "awaited-rejects.mjs": { isolates: ["parse"], requests: get("/?text=bad", "/?text={", "/?text=[1]") },
  // calls that are awaited, or cut out of a synchronous section
  "awaited-call.mjs": { isolates: ["render"], requests: get("/?text=abc", "/?text=def"), alone: true },
  "cut-after-counter.mjs": {
    isolates: ["heavy"],
    requests: get("/?text=abc", "/count", "/?text=d", "/count"),
  },
  "special-numbers.mjs": {
    isolates: ["handler"],
    requests: get("/nan", "/zero", "/big", "/none", "/set", "/other"),
  },
  "bcrypt.mjs": {
    isolates: ["bcrypt.hash", "bcrypt.compare"],
    requests: get(
      "/register/ada?password=a",
      "/login/ada?password=a",
      "/login/ada?password=b",
      "/login/bob?password=b",
    ),
    alone: true,
  },
  // continuations
  "factory-middleware.cjs": {
    isolates: ["parsed"],
    requests: ["POST / hello", `POST / ${"long".repeat(20)}`, "POST /"],
  },
  "then-continuation.cjs": { bound: true, isolates: ["reply"], requests: get("/") },
  "file-continuation.cjs": { bound: true, isolates: ["reply"], requests: get("/", "/?missing") },
  "json-body.mjs": {
    isolates: ["handler"],
    requests: ['JSON / {"b":{"d":1,"c":[2,{"f":0,"e":null}]},"a":"x"}', "JSON / {"],
  },
  "deep-recursion.cjs": { isolates: ["handler"], requests: get("/?n=100", "/?n=22000") },
  // state that outlives a request
  "used-around-next.cjs": { refuses: { look: /before and after/ }, requests: get("/", "/", "/") },
  "looked-at.cjs": {
    refuses: { counted: /how many parameters/, stack: /stack of an error/, page: /app\.locals/ },
    requests: get("/counted", "/length", "/stack", "/page", "/title?to=two", "/page"),
  },
  "module-state-counter.cjs": { refuses: { handler: /count/ }, requests: get("/", "/") },
  "module-cache.mjs": { refuses: { handler: /cache/ }, requests: get("/a", "/b", "/a") },
  "alias-written.cjs": { refuses: { handler: /settings/, raise: /same/ }, requests: get("/", "/raise", "/") },
  "state-written-elsewhere.cjs": {
    refuses: { handler: /greeting/, set: /greeting/ },
    requests: get("/?name=a", "/set/bye", "/?name=a"),
  },
  "state-through-method.ts": { refuses: { handler: /tally/ }, requests: get("/", "/") },
  "instance-changed.cjs": { refuses: { handler: /stars|this\.mark/ }, requests: get("/?n=1", "/?n=2"), alone: true },
  "lazy-singleton.cjs": { refuses: { handler: /table/ }, requests: get("/", "/") },
  "state-after-cut.cjs": { refuses: { handler: /log/ }, requests: get("/?text=cab", "/?text=fed") },
  "global-state.cjs": { refuses: { handler: /global/ }, requests: get("/", "/") },
  "sticky-expression.cjs": { refuses: { handler: /words/ }, requests: get("/", "/", "/") },
  "shared-generator.mjs": { refuses: { handler: /ids/ }, requests: get("/", "/") },
  "weak-map-state.mjs": { refuses: { handler: /seen/, mark: /seen/ }, requests: get("/") },
  "patched-prototype.cjs": { refuses: { handler: /prototype|shout/ }, requests: get("/?text=hey") },
  "environment-written.cjs": { refuses: { set: /process|env/ }, requests: get("/", "/set?to=bye", "/") },
  // objects that cannot travel, and effects that cannot wait
  "uses-this.cjs": { refuses: { show: /this|method/ }, requests: get("/") },
  "class-field-handler.cjs": {
    refuses: { anonymous_1000: /`this` of what is around it/, anonymous_1001: /`this` of what is around it/ },
    requests: get("/show?a=1", "/show?a=2", "/name?a=3"),
  },
  "conversions.cjs": { isolates: ["text", "data"], requests: get("/text?a=b", "/data") },
  "declared-twice.cjs": {
    isolates: ["handler"],
    refuses: { choose: /declared again inside of another statement/ },
    requests: get("/?a=b", "/chosen?a=b"),
  },
  "file-itself.cjs": {
    isolates: ["constant"],
    refuses: { main_2: /uses `require`|uses `module`/, own: /uses `exports`/ },
    requests: get("/constant?a=b", "/main?a=b", "/exports?a=b"),
  },
  "file-itself.mjs": {
    bound: true,
    isolates: ["constant", "place"],
    refuses: { meta: /import\.meta/ },
    requests: get("/constant?a=b", "/place?a=b", "/meta?a=b"),
  },
  "conversion-counts.cjs": {
    refuses: { draw: /writes total/, count: /changes this\.n/ },
    requests: get("/ticket?a=1", "/number?a=2", "/ticket?a=3", "/number?a=4"),
  },
  "uses-arguments.cjs": { refuses: { handler: /arguments/ }, requests: get("/") },
  "uses-eval.cjs": { refuses: { handler: /eval/ }, requests: get("/") },
  "uses-with.cjs": { refuses: { handler: /with/ }, requests: get("/?n=1") },
  "function-crosses.mjs": {
    refuses: { handler: /calls/ },
    requests: get("/?n=4", "/?n=5"),
    alone: true,
  },
  "callee-changes-argument.mjs": { isolates: ["handler"], requests: get("/") },
  "parallel-callbacks.cjs": { refuses: { counted: /pending|total/ }, requests: get("/") },
  "emits.cjs": {
    refuses: { handler: /bus|emit/, hear: /heard|order/ },
    requests: get("/?text=a", "/?text=b"),
  },
  "timer-escapes.cjs": {
    refuses: { start: /timers|setTimeout/ },
    requests: get("/start/a", "/start/b", "/stop/a"),
  },
  "response-read-back.cjs": { refuses: { handler: /res/ }, requests: get("/") },
  "caught-effect.cjs": {
    refuses: { handler: /try|caught|catch/ },
    requests: get("/?status=201", "/?status=99999"),
  },
  "next-given-once.cjs": { isolates: ["handler", "failed"], requests: get("/?by=3", "/", "/none?by=1") },
  "next-given-twice.cjs": {
    refuses: { handler: /gives its `next` away twice/, failed: /gives its `next` away twice/ },
    requests: get("/?by=3", "/none?by=1"),
  },
  "after-next.cjs": { refuses: { handler: /next/ }, requests: get("/?n=1"), alone: true },
  "response-kept.cjs": { refuses: { wait: /waiting|res/, handler: /waiting/ }, requests: get("/") },
  "stream-piped.cjs": { refuses: { handler: /pipe|req/ }, requests: ["POST / through"] },
  "reads-body-stream.mjs": { refuses: { handler: /req|await/ }, requests: ["POST / twelve bytes"] },
  "dynamic-import.mjs": { bound: true, refuses: { handler: /import/ }, requests: get("/?part=wrap", "/?part=none") },
  "unknown-library.cjs": { refuses: { handler: /ms/ }, requests: get("/?text=2h") },
  "stay-comment.cjs": { refuses: { handler: /stay/ }, requests: get("/") },
  // what a cut, an await or a copy would let others see
  "alias-after-cut.cjs": { refuses: { "heavy()": /user/ }, requests: get("/", "/", "/") },
  "timeout-guard.cjs": { refuses: { handler: /overtake/ }, requests: get("/", "/") },
  "adds-awaited.cjs": { refuses: { "heavy()": /total/ }, requests: get("/", "/", "/") },
  "object-of-file-returned.cjs": { refuses: { "pick()": /object of the file/ }, requests: get("/", "/") },
  "written-then-changed.cjs": { refuses: { handler: /res\.write/ }, requests: get("/") },
  "getter-on-requests.cjs": { refuses: { handler: /getters/ }, requests: get("/", "/") },
  // what goes on while nobody waits for it
  "unawaited-promise.cjs": {
    refuses: { handler: /not awaited/, chain: /not awaited/, last: /not awaited/ },
    requests: get("/?n=1", "/chain", "/last"),
    alone: true,
  },
  "unawaited-then-cut.cjs": { refuses: { "heavy()": /could overtake/ }, requests: get("/?n=1", "/?n=2") },
  "in-flight-counter.cjs": { refuses: { handler: /could overtake/ }, requests: get("/", "/") },
  "router-by-hand.cjs": { refuses: { handler: /after next/ }, requests: get("/"), alone: true },
  // what is changed under another name
  "method-by-reference.cjs": { refuses: { handler: /log/ }, requests: get("/", "/add?n=1", "/") },
  "many-arguments.cjs": { refuses: { handler: /log/ }, requests: get("/", "/add", "/") },
  "changed-by-prototype.cjs": { refuses: { handler: /begun|bytes/ }, requests: get("/", "/set?n=5", "/", "/move", "/") },
  "json-by-two-names.cjs": { refuses: { handler: /one/ }, requests: get("/", "/add", "/") },
  "computed-require.cjs": { refuses: { handler: /one/ }, requests: get("/", "/add", "/") },
  "folder-main.cjs": { refuses: { handler: /kept/ }, requests: get("/", "/add", "/") },
  "app-of-request.cjs": { refuses: { handler: /app/ }, requests: get("/", "/visit", "/") },
  // programs that end
  "ends-by-itself.cjs": { isolates: ["digest"], args: ["one", "two"] },
  "ends-uncaught.cjs": { isolates: ["parse"] },
  "top-level-await.mjs": { isolates: ["squares"] },
  "timers-order.cjs": {},
};
