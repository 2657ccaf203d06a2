/** The other side did not do what it should; the message says what, in one sentence. */
export class TargetFailure extends Error {
  /** Whether trying again is pointless. */
  readonly final: boolean;

  constructor(message: string, final = false) {
    super(message);
    this.final = final;
  }
}

/** This appliance does not allow connections there. */
export class Blocked extends TargetFailure {
  /** Null where the name alone is blocked. */
  readonly address: string | null;

  constructor(issue: string, address: string | null) {
    super(`Blocked: the target ${issue}.`, true);
    this.address = address;
  }
}

/** It could not be tried for a reason on this side: nothing is known about the other one. */
export class OwnTrouble extends Error {}
