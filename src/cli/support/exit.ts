/** Exit codes of commands. Keys in capitals are codes of DataError. */
export const exitCodes = {
  failed: 1,
  wrongUsage: 2,
  DATA_UNUSABLE: 3,
  MIGRATION_REFUSED: 4,
  ALREADY_RUNNING: 5,
  noResponse: 6,
  changed: 10,
} as const;

/** Ends a command with a specific exit code, and prints the message on stderr. */
export class Exit extends Error {
  readonly code: number;

  constructor(code: number, message = "") {
    super(message);
    this.code = code;
  }
}
