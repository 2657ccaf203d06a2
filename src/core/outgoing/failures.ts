/** The target misbehaved; the message is one sentence about it. */

export class TargetFailure extends Error {
  /** Whether trying again is pointless. */
  readonly final: boolean;
  /** The same message with the received data, for people who can see it; absent without data. */
  readonly said: string | undefined;

  constructor(message: string, final = false, said?: string) {
    super(message);
    this.final = final;
    this.said = said;
  }
}

/** This appliance does not allow connections there. */
export class Blocked extends TargetFailure {
  /** Null where the name alone is blocked. */
  readonly address: string | null;

  constructor(issue: string, address: string | null, what: "target" | "proxy" = "target") {
    super(`Blocked: the ${what} ${issue}.`, true);
    this.address = address;
  }
}

/** It could not be tried for a reason on this side: nothing is known about the other one. */
export class OwnTrouble extends Error {
  /** Whether the cause affects every target of this machine, not only this one. */
  readonly isOfMachine: boolean;

  constructor(message: string, isOfMachine = false) {
    super(message);
    this.isOfMachine = isOfMachine;
  }
}
