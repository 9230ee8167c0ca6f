/**
 * Every error that Headwater itself raises has a code. The code names a page in `docs/errors`, which
 * `headwater explain CODE` prints; a test keeps this table and those pages in step.
 *
 * The table also says what follows from an error for the request that failed with it. Whether an error is journaled as an answer,
 * sent with the status 503, or retried by a client is decided by this property and not by lists of codes elsewhere.
 */

interface Meaning {
  /** May the same request succeed later, with nothing changed? If not, the error is final. */
  readonly mayRetry: boolean;
  /** Is the error kept as the answer of its request, so that the request sent again gets it again? */
  readonly isRemembered: boolean;
}

const consequences = {
  /** The same request fails in the same way until the program, the arguments or the setup are changed. */
  final: { mayRetry: false, isRemembered: true },
  /** Nothing was done, and nothing will be until a person repairs something. Then the same request can succeed. */
  repair: { mayRetry: false, isRemembered: false },
  /** Nothing was done for lack of room, time or a host. A retry may carry a new id. */
  refused: { mayRetry: true, isRemembered: false },
  /** The request may have been carried out. Only a retry under the same id has its effect once. */
  unsure: { mayRetry: true, isRemembered: false },
} as const satisfies Record<string, Meaning>;

export type Consequence = keyof typeof consequences;

export const codes = {
  "HW-1001": ["final", "a context was called from below"],
  "HW-1002": ["final", "a context was called from the side"],
  "HW-1003": ["final", "a context was entered again after it was given up"],
  "HW-1004": ["final", "a context was downgraded while one above it is still held"],
  "HW-1005": ["final", "a call was not awaited"],
  "HW-1006": ["final", "a value cannot be stored"],
  "HW-1007": ["final", "there is no such method"],
  "HW-1008": ["final", "a context was used outside an event"],
  "HW-1009": ["final", "a context was changed after it was given up"],
  "HW-1010": ["final", "a read-only method changed its context"],
  "HW-1011": ["final", "a read-only event called a method that may write"],
  "HW-1012": ["final", "an ancestor was read without being declared"],
  "HW-1013": ["final", "an anonymous context has state"],
  "HW-1014": ["final", "there is no such context above"],
  "HW-1015": ["final", "a key cannot name a context"],
  "HW-1016": ["final", "a context was made by hand"],
  "HW-1017": ["final", "a context class is not well formed"],
  "HW-1018": ["final", "a later event was aimed at the wrong logical node"],
  "HW-1019": ["final", "a read-only event has nothing to downgrade"],
  "HW-1020": ["final", "there is no such logical node"],
  "HW-1021": ["final", "a timer cannot be set"],
  "HW-1022": ["final", "an outside function cannot be declared or called"],
  "HW-1023": ["final", "a request was made from inside an event"],
  "HW-1024": ["final", "a context cannot get or lose a field"],
  "HW-1025": ["final", "a program cannot be run like that"],
  "HW-1026": ["final", "a method returned before its code was done"],
  "HW-1027": ["final", "code changed a context after its event had ended"],
  "HW-1028": ["final", "a promise in a context was rejected and not handled"],
  "HW-1030": ["final", "a field of a context cannot be state"],
  "HW-1031": ["final", "contexts cannot be listed or deleted like that"],
  "HW-1032": ["final", "an event would delete too many contexts"],
  "HW-1101": ["final", "a tracked collection was replaced"],
  "HW-1102": ["final", "a tracked collection is not a field of a context"],
  "HW-1103": ["final", "a value cannot be a key of a tracked collection"],
  "HW-1104": ["final", "a view of a tracked collection was changed"],
  "HW-1105": ["final", "a tracked list has no such item"],
  "HW-1106": ["repair", "a stored instance is of a class that is not registered"],
  "HW-1107": ["repair", "stored data cannot be read"],
  "HW-1108": ["final", "a name has half of a surrogate pair"],
  "HW-1109": ["final", "a record of an owned engine is refused"],
  "HW-1110": ["repair", "an owned engine does not do what it should"],
  "HW-1111": ["final", "an owned engine was read through a view"],
  "HW-1301": ["refused", "the logical node is full"],
  "HW-1302": ["final", "an event asked for too much"],
  "HW-1401": ["unsure", "the service has stopped"],
  "HW-1402": ["refused", "a client of that name is connected already"],
  "HW-1403": ["final", "a message was sent to a client that is not there"],
  "HW-2001": ["final", "the command line was not understood"],
  "HW-2002": ["final", "the program could not be loaded"],
  "HW-2003": ["final", "the simulator found a difference"],
  "HW-2004": ["final", "what the command line names is not there"],
  "HW-2005": ["repair", "a package that this part of Headwater needs is not installed"],
  "HW-3001": ["repair", "the directory is not a journal"],
  "HW-3002": ["repair", "the journal belongs to another program"],
  "HW-3003": ["repair", "the journal has another format"],
  "HW-3004": ["repair", "the journal is damaged"],
  "HW-3005": ["unsure", "another process has taken over the journal"],
  "HW-3006": ["unsure", "the journal could not be read or written"],
  "HW-3007": ["unsure", "the journal is closed"],
  "HW-3008": ["repair", "a key cannot be stored in a journal"],
  "HW-3024": ["refused", "the journal is in use by another process"],
  "HW-3026": ["refused", "the journal has no room"],
  "HW-3027": ["repair", "another process holds the journal and does not let it go"],
  "HW-3028": ["repair", "a logical node that the program no longer has has state"],
  "HW-3029": ["final", "the past cannot be read as of this ticket"],
  "HW-3101": ["repair", "the address of NATS servers cannot be used"],
  "HW-3102": ["refused", "NATS servers cannot be reached"],
  "HW-3103": ["repair", "a NATS server is too old or has no JetStream"],
  "HW-3104": ["repair", "a log on NATS is not safe to use"],
  "HW-3105": ["refused", "the cluster has no head at the moment"],
  "HW-3106": ["repair", "a process cannot be a member of the cluster"],
  "HW-3107": ["repair", "the NATS servers are less safe or slower than they could be"],
  "HW-3110": ["refused", "a member of the cluster did not answer"],
  "HW-3111": ["refused", "no other member can become the head now"],
  "HW-3112": ["refused", "a process of the cluster cannot be restarted"],
  "HW-3113": ["refused", "the head runs another version of the program"],
  "HW-3140": ["final", "logical nodes cannot be divided over logs like this"],
  "HW-3141": ["repair", "the cluster divides its logical nodes over logs in another way"],
  "HW-3150": ["refused", "a process of the cluster could not be added or removed"],
  "HW-3151": ["refused", "a process that was added has not joined the cluster"],
  "HW-3152": ["final", "the processes of a cluster cannot be provisioned like this"],
  "HW-3160": ["repair", "a copy of an engine is not what the head has"],
  "HW-3021": ["repair", "the state of a context does not fit its class"],
  "HW-3023": ["repair", "the journal does not fit the program"],
  "HW-4001": ["final", "an API cannot be exposed"],
  "HW-4002": ["final", "an API function made no request"],
  "HW-4003": ["final", "an API function made more than one request"],
  "HW-4004": ["final", "there is no such API function"],
  "HW-4005": ["final", "a request is not well formed"],
  "HW-4006": ["final", "a request or a reply is too large"],
  "HW-4007": ["final", "a value cannot be passed"],
  "HW-4008": ["refused", "a request took too long to arrive"],
  "HW-4009": ["final", "a request has a type or an encoding that is not taken"],
  "HW-4010": ["final", "the caller is not known"],
  "HW-4011": ["final", "a token was revoked"],
  "HW-4012": ["final", "a web page of another origin asked"],
  "HW-4013": ["refused", "there are too many connections, sessions or requests"],
  "HW-4014": ["final", "the protocol of the socket was broken"],
  "HW-4015": ["unsure", "a client does not read what it is sent"],
  "HW-4016": ["unsure", "a session was ended"],
  "HW-4017": ["unsure", "a request was not answered in time"],
  "HW-4018": ["unsure", "the client is closed or cannot connect"],
  "HW-4019": ["final", "an Idempotency-Key was used for another request"],
  "HW-4020": ["final", "the server cannot be started"],
  "HW-4021": ["final", "a session was taken over by another connection"],
  "HW-4022": ["refused", "too many requests of a client have no answer"],
  "HW-4040": ["refused", "the program is starting"],
  "HW-4041": ["final", "a token has expired"],
  "HW-4023": ["refused", "a request was never sent"],
  "HW-4024": ["final", "arguments do not fit the schemas of a function"],
  "HW-4025": ["final", "a function that is not read-only cannot be watched"],
  "HW-4026": ["final", "what is to be watched is no function of an API"],
  "HW-4030": ["refused", "a caller has used up its share"],
  "HW-4031": ["final", "the answer to a request that came again is gone"],
  "HW-4032": ["unsure", "a reply was held back because its caller does not read"],
  "HW-6001": ["unsure", "a host has ended"],
  "HW-6002": ["final", "a program cannot run on several hosts"],
  "HW-6003": ["final", "an event ends every host that it runs on"],
  "HW-6011": ["final", "there is no such host"],
  "HW-6012": ["final", "a host cannot be added or taken away"],
  "HW-6013": ["final", "a context cannot be placed like that"],
  "HW-6014": ["final", "the program has no hosts"],
  "HW-6015": ["refused", "a migration failed"],
  "HW-6016": ["refused", "a running program cannot be reached"],
  "HW-6021": ["final", "a policy cannot be used"],
  "HW-6022": ["final", "a file is not a recorded load"],
  "HW-6023": ["final", "a policy asked for what cannot be done"],
  "HW-6024": ["final", "a value is too large to go from host to host"],
  "HW-6004": ["refused", "an event was lost with its host"],
  "HW-6005": ["final", "a message between hosts is not well formed"],
  "HW-6006": ["final", "an event has been under way for long"],
  "HW-6007": ["final", "an event took longer than it may"],
  "HW-6008": ["final", "a host could not be started"],
  "HW-6009": ["final", "a host was lost and is replaced"],
  "HW-6030": ["refused", "a host cannot be started at the moment"],
  "HW-6031": ["final", "an event that ends every host is parked"],
  "HW-6032": ["unsure", "no more events can be parked"],
  "HW-6033": ["final", "there is no such parked event"],
  "HW-6034": ["final", "a process is ended because its thread is blocked"],
  "HW-6035": ["final", "blocked threads are not reported any more"],
  "HW-5001": ["final", "an annotation file cannot be read"],
  "HW-5002": ["final", "a dataflow is not well formed"],
  "HW-5003": ["final", "there is no such stream in the dataflow"],
  "HW-5004": ["final", "a component cannot be coordinated like that"],
  "HW-5005": ["final", "a partition got more than its seal promised"],
  "HW-5006": ["final", "a component cannot be run"],
  "HW-5007": ["final", "a dataflow has nothing that can be run"],
  "HW-5008": ["final", "a label of a dataflow is not true"],
  "HW-5009": ["final", "a partition was given two lists of producers"],
  "HW-5010": ["final", "a baseline cannot be read"],
  "HW-5101": ["final", "a query cannot be read"],
  "HW-5102": ["final", "a query uses something that is not supported"],
  "HW-5103": ["final", "a name in a query leads nowhere"],
  "HW-5104": ["final", "a query makes no sense"],
  "HW-5105": ["final", "a query does not read one of its inputs"],
  "HW-5301": ["final", "a batch of columns cannot be read"],
  "HW-5302": ["final", "a record does not fit the columns of its stream"],
  "HW-5401": ["final", "there is no such stream or query"],
  "HW-5402": ["final", "a name is taken"],
  "HW-5403": ["final", "a stream or query cannot be defined like that"],
  "HW-5404": ["final", "a stream or query is still in use"],
  "HW-5405": ["final", "rows of a stream are not retained any more"],
  "HW-5406": ["final", "a stream is sealed"],
  "HW-5407": ["final", "a batch of a producer is out of order"],
  "HW-5408": ["refused", "a quota is used up"],
  "HW-5409": ["final", "a token does not allow that"],
  "HW-5410": ["final", "a view cannot be read like that"],
  "HW-5411": ["final", "a partition does not take rows or seals of this producer"],
  "HW-5412": ["refused", "a partition is not sealed yet"],
  "HW-5451": ["final", "the answers of a query depend on the order of rows"],
  "HW-5452": ["final", "a query cannot be divided into partitions"],
  "HW-5453": ["final", "the state of a query would grow without bound"],
  "HW-5460": ["final", "the declared columns of a query differ from the columns that it gives"],
  "HW-5461": ["final", "a new version of a program changes a stream in a way that its rows do not fit"],
  "HW-5462": ["final", "results were asked for from a number that is none"],
  "HW-5463": ["final", "a function of a program cannot be declared like that"],
  "HW-5501": ["final", "an output or a source cannot be defined like that"],
  "HW-5502": ["final", "a target or a source is not allowed"],
  "HW-5503": ["final", "there is no such output or source"],
  "HW-5504": ["refused", "a dead letter could not be delivered"],
  "HW-5511": ["final", "a query failed on a row"],
  "HW-5512": ["refused", "a query takes more than it may"],
  "HW-5540": ["refused", "the memory of the service is in use"],
  "HW-7001": ["final", "a program cannot be compiled"],
  "HW-7002": ["final", "a stage needs state that every request shares"],
  "HW-7003": ["final", "a stage shares a variable with the function around it"],
  "HW-7004": ["final", "a stage calls something of which nothing is known"],
  "HW-7005": ["final", "a stage changes or gives back what it was given"],
  "HW-7006": ["final", "a stage would have to send what cannot be copied"],
  "HW-7007": ["final", "a stage depends on where its code runs"],
  "HW-7008": ["final", "a stage needs the request or the response itself"],
  "HW-7009": ["final", "a stage waits for input, output or time"],
  "HW-7010": ["final", "a stage would answer events in another order"],
  "HW-7011": ["final", "what follows a heavy call must not wait for it"],
  "HW-7012": ["final", "a worker cannot load what a stage needs"],
  "HW-7013": ["final", "the text of a stage cannot be moved"],
  "HW-7014": ["final", "a fluxional program cannot be read"],
  "HW-7015": ["final", "what follows an await stays in one part with it"],
  "HW-7016": ["final", "a package is too entangled to be compiled along"],
  "HW-7101": ["final", "a stage has ended its worker"],
  "HW-8001": ["final", "a simulated schedule breaks the program"],
  "HW-8002": ["final", "a method reaches for the network"],
  "HW-8003": ["final", "an outside call was done twice without its key"],
  "HW-8004": ["final", "there is no such schedule"],
  "HW-8005": ["final", "a simulated program leaves the simulation"],
  "HW-8006": ["final", "a simulated program does not come to rest"],
  "HW-9001": ["repair", "an invariant of Headwater is broken"],
} as const satisfies Record<string, readonly [Consequence, title: string]>;

export type Code = keyof typeof codes;

/** The codes with one of these consequences. */
export type CodeWith<C extends Consequence> = {
  [K in Code]: (typeof codes)[K][0] extends C ? K : never;
}[Code];

/** What happened, where, and what to do; `code` leads to the page that explains it. */
export class HeadwaterError extends Error {
  override readonly name = "HeadwaterError";

  constructor(
    readonly code: Code,
    detail: string,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${detail}`, options);
  }

  /** For refusals that callers can cause by the thousand: where in this package they come from costs time and tells them nothing. */
  static withoutStack(code: Code, detail: string): HeadwaterError {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    try {
      return new HeadwaterError(code, detail);
    } finally {
      Error.stackTraceLimit = limit;
    }
  }

  /** The same error after it was kept: `message` is what it said. */
  static restored(code: string, message: string): HeadwaterError {
    const error = new HeadwaterError(code as Code, "");
    error.message = message;
    return error;
  }
}

/**
 * May the request that failed with this error succeed later, with nothing changed? Use the same request id again: the request may
 * have been carried out.
 */
export function mayRetry(error: unknown): boolean {
  return meaningOf(error).mayRetry;
}

/** Is this error kept, and journaled, as the answer of the request that failed with it? */
export function isRemembered(error: unknown): boolean {
  return meaningOf(error).isRemembered;
}

/** What the application throws is an answer as any other, and so is an error with a code of a newer version. */
function meaningOf(error: unknown): Meaning {
  const row: readonly [Consequence, string] | undefined =
    error instanceof HeadwaterError ? codes[error.code] : undefined;
  return consequences[row?.[0] ?? "final"];
}

/** Stays on in production: a broken invariant must stop the event, not corrupt the state. */
export function invariant(condition: unknown, what: string): asserts condition {
  if (!condition)
    throw new HeadwaterError("HW-9001", `${what}. Please report this; it is a defect of Headwater.`);
}
