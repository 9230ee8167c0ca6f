/** What an application's callback throws must not stop a logical node half way, or end the program. */
export function apart(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    process.emitWarning(`a callback threw: ${textOf(error)}`, "HeadwaterCallbackFailed");
  }
}

/** The text of an error may be made by code of the application, which may throw itself. */
export function textOf(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } catch {
    return "what was thrown cannot be put into words";
  }
}
