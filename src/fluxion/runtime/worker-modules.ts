/** Under this name threads find out what to load. */
export const WORKER_MODULES = "headwater.fluxions";

export interface WorkerModules {
  /** The addresses of the generated modules. */
  readonly modules: readonly string[];
  /** Which stage is in which of them. */
  readonly stages: Readonly<Record<string, string>>;
}
