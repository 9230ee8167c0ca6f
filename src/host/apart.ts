/** What an application's callback throws must not stop a logical node half way, or end the program. */
export function apart(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.emitWarning(`a callback threw: ${why}`, "HeadwaterCallbackFailed");
  }
}
