/**
 * Every error that Headwater itself raises has a code. The code names a page in `docs/errors`, which
 * `headwater explain CODE` prints; a test keeps this table and those pages in step.
 */

export const codes = {
  "HW-1001": "a context was called from below",
  "HW-1002": "a context was called from the side",
  "HW-1003": "a context was entered again after it was given up",
  "HW-1004": "a context was downgraded while one above it is still held",
  "HW-1005": "a call was not awaited",
  "HW-1006": "a value cannot be stored",
  "HW-1007": "there is no such method",
  "HW-1008": "a context was used outside an event",
  "HW-1009": "a context was changed after it was given up",
  "HW-1010": "a read-only method changed its context",
  "HW-1011": "a read-only event called a method that may write",
  "HW-1012": "an ancestor was read without being declared",
  "HW-1013": "an anonymous context has state",
  "HW-1014": "there is no such context above",
  "HW-1015": "a key cannot name a context",
  "HW-1016": "a context was made by hand",
  "HW-1017": "a context class is not well formed",
  "HW-1018": "a later event was aimed at the wrong logical node",
  "HW-1019": "a read-only event has nothing to downgrade",
  "HW-1020": "there is no such logical node",
  "HW-1021": "a timer cannot be set",
  "HW-1022": "an outside function cannot be declared or called",
  "HW-1023": "a request was made from inside an event",
  "HW-1024": "a context cannot get or lose a field",
  "HW-1025": "a program cannot be run like that",
  "HW-1101": "a tracked collection was replaced",
  "HW-1102": "a tracked collection is not a field of a context",
  "HW-1103": "a value cannot be a key of a tracked collection",
  "HW-1104": "a view of a tracked collection was changed",
  "HW-1105": "a tracked list has no such item",
  "HW-1106": "a stored instance is of a class that is not registered",
  "HW-1107": "stored data cannot be read",
  "HW-1108": "a name has half of a surrogate pair",
  "HW-1301": "the logical node is full",
  "HW-1302": "an event asked for too much",
  "HW-1401": "the service has stopped",
  "HW-1402": "a client of that name is connected already",
  "HW-2001": "the command line was not understood",
  "HW-2002": "the program could not be loaded",
  "HW-2003": "the simulator found a difference",
  "HW-2004": "what the command line names is not there",
  "HW-3001": "the directory is not a journal",
  "HW-3002": "the journal belongs to another program",
  "HW-3003": "the journal has another format",
  "HW-3004": "the journal is damaged",
  "HW-3005": "another process has taken over the journal",
  "HW-3006": "the journal could not be read or written",
  "HW-3007": "the journal is closed",
  "HW-3008": "a key cannot be stored in a journal",
  "HW-3009": "the journal is open with another durability",
  "HW-3024": "the journal is in use by another process",
  "HW-3021": "the state of a context does not fit its class",
  "HW-3023": "the journal does not fit the program",
  "HW-4001": "an API cannot be exposed",
  "HW-4002": "an API function made no request",
  "HW-4003": "an API function made more than one request",
  "HW-4004": "there is no such API function",
  "HW-4005": "a request is not well formed",
  "HW-4006": "a request or a reply is too large",
  "HW-4007": "a value cannot be passed",
  "HW-4008": "a request took too long to arrive",
  "HW-4009": "a request has a type or an encoding that is not taken",
  "HW-4010": "the caller is not known",
  "HW-4011": "a token was revoked",
  "HW-4012": "a web page of another origin asked",
  "HW-4013": "there are too many connections, sessions or requests",
  "HW-4014": "the protocol of the socket was broken",
  "HW-4015": "a client does not read what it is sent",
  "HW-4016": "a session was ended",
  "HW-4017": "a request was not answered in time",
  "HW-4018": "the client is closed or cannot connect",
  "HW-4019": "an Idempotency-Key was used for another request",
  "HW-4020": "the server cannot be started",
  "HW-4021": "a session was taken over by another connection",
  "HW-4022": "too many requests of a client have no answer",
  "HW-4040": "the program is starting",
  "HW-4041": "a token has expired",
  "HW-4030": "a caller has used up its share",
  "HW-4031": "the answer to a request that came again is gone",
  "HW-4032": "a reply was held back because its caller does not read",
  "HW-6001": "a host has ended",
  "HW-6002": "a program cannot run on several hosts",
  "HW-6003": "an event ends every host that it runs on",
  "HW-6011": "there is no such host",
  "HW-6012": "a host cannot be added or taken away",
  "HW-6013": "a context cannot be placed like that",
  "HW-6014": "the program has no hosts",
  "HW-6015": "a move was not made",
  "HW-6016": "a running program cannot be reached",
  "HW-6021": "a policy cannot be used",
  "HW-6022": "a file is not a recorded load",
  "HW-6023": "a policy asked for what cannot be done",
  "HW-6024": "a value is too large to go from host to host",
  "HW-6004": "an event was lost with its host",
  "HW-6005": "a message between hosts is not well formed",
  "HW-6006": "an event has been under way for long",
  "HW-6007": "an event took longer than it may",
  "HW-6008": "a host could not be started",
  "HW-6009": "a host was lost and is replaced",
  "HW-5001": "an annotation file cannot be read",
  "HW-5002": "a dataflow is not well formed",
  "HW-5003": "there is no such stream in the dataflow",
  "HW-5004": "a component cannot be coordinated like that",
  "HW-5005": "a partition got more than its seal promised",
  "HW-5006": "a component cannot be run",
  "HW-5007": "a dataflow has nothing that can be run",
  "HW-5008": "a label of a dataflow is not true",
  "HW-5101": "a query cannot be read",
  "HW-5102": "a query uses what is not supported",
  "HW-5103": "a name in a query leads nowhere",
  "HW-5104": "a query makes no sense",
  "HW-7001": "a program cannot be compiled",
  "HW-7002": "a stage needs state that every request shares",
  "HW-7003": "a stage shares a variable with the function around it",
  "HW-7004": "a stage calls something of which nothing is known",
  "HW-7005": "a stage changes or gives back what it was given",
  "HW-7006": "a stage would have to send what cannot be copied",
  "HW-7007": "a stage depends on where its code runs",
  "HW-7008": "a stage needs the request or the response itself",
  "HW-7009": "a stage waits for input, output or time",
  "HW-7010": "a stage would answer events in another order",
  "HW-7011": "what follows a heavy call must not wait for it",
  "HW-7012": "a worker cannot load what a stage needs",
  "HW-7013": "the text of a stage cannot be moved",
  "HW-7014": "a fluxional program cannot be read",
  "HW-7015": "what follows an await stays in one part with it",
  "HW-7101": "a stage has ended its worker",
  "HW-9001": "an invariant of Headwater is broken",
} as const;

export type Code = keyof typeof codes;

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

  /** The same error after it was kept: `message` is what it said. */
  static restored(code: string, message: string): HeadwaterError {
    const error = new HeadwaterError(code as Code, "");
    error.message = message;
    return error;
  }
}

/** Stays on in production: a broken invariant must stop the event, not corrupt the state. */
export function invariant(condition: unknown, what: string): asserts condition {
  if (!condition)
    throw new HeadwaterError("HW-9001", `${what}. Please report this; it is a defect of Headwater.`);
}
