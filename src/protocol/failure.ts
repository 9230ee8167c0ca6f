import { HeadwaterError } from "../errors.js";
import { errorForm, errorOf, textOf, toForm } from "./form.js";

/**
 * Errors on their way to a caller. Headwater's own have a code; those of the application arrive under their names,
 * with their texts and fields.
 */

/** An error in the form in which it travels. What is thrown need not be an error. */
export function failureForm(thrown: unknown): Record<string, unknown> {
  if (thrown instanceof HeadwaterError) {
    return { code: thrown.code, name: thrown.name, message: toForm(thrown.message, false) };
  }
  if (!(thrown instanceof Error)) return { name: "Error", message: toForm(shownThrown(thrown), false) };
  try {
    return errorForm(thrown, false);
  } catch {
    return formWithoutFields(thrown); // its fields are not plain data
  }
}

function shownThrown(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return "something that cannot be shown was thrown";
  }
}

/** An error may be of a class whose own name and text cannot be read. */
function formWithoutFields(thrown: Error): Record<string, unknown> {
  try {
    return errorForm(withoutFields(thrown), false);
  } catch {
    return { name: "Error", message: "an error that cannot be passed on" };
  }
}

function withoutFields({ name, message }: Error): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}

const CODE = /^HW-\d{4}$/;

/** The error that the `error` of an HTTP reply stands for. */
export function errorFrom(form: unknown): Error {
  return errorOfForm(structuredClone(form));
}

/** The same for a form that is not shared. */
export function errorOfForm(form: unknown): Error {
  const fields = (typeof form === "object" && form !== null ? form : {}) as Record<string, unknown>;
  const { code, message } = fields;
  if (typeof code === "string" && CODE.test(code))
    return HeadwaterError.restored(code, textOf(message) ?? "");
  return errorOf(fields);
}

/** A socket that is closed with a code of Headwater's says which: HW-4011 is the close code 4011. */
export function closeCodeOf({ code }: HeadwaterError): number {
  return Number(code.slice("HW-".length));
}

const REASON_BYTES_MAX = 123;

/** The words that go with a close code; the protocol leaves little room for them. */
export function closeReasonOf({ message }: HeadwaterError): string {
  const ascii = message.replace(/[^\x20-\x7e]/g, "?");
  return ascii.length <= REASON_BYTES_MAX ? ascii : `${ascii.slice(0, REASON_BYTES_MAX - 3)}...`;
}

/** What a close code says, if it is one of Headwater's. */
export function errorOfClose(closeCode: number, reason: string): HeadwaterError | null {
  if (closeCode < 4000 || closeCode > 4999) return null;
  const code = `HW-${closeCode}`;
  return HeadwaterError.restored(
    code,
    reason.startsWith(code) ? reason : `${code}: the server closed the socket.`,
  );
}
