import type { Limits } from "../../core/limits.ts";
import type { History, Plan } from "../plan.ts";
import type { ImportOptions } from "../prepare.ts";

/** An open source with its plan. */
export type OpenSource = {
  plan: Plan;
  history: History | null;
  picture?: NonNullable<ImportOptions["picture"]>;
  close?: () => void | Promise<void>;
};

export type SourceOptions = {
  /** Folder for temporary copies of files. */
  workIn: string;
  now: number;
  /** Values of the variables that a file can refer to. */
  variables: Readonly<Record<string, string | undefined>>;
  /** Record limits of the organization. */
  limits: Limits;
  /** Whether the source can refer to other files of this machine. Must be false for uploads. */
  readsNamedFiles: boolean;
  /** Display name of the file; defaults to its base name. */
  name?: string;
};
