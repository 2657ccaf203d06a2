import { AppError } from "../../core/errors.ts";
import { hashPassword } from "../../core/passwords.ts";
import { retrying } from "../../database/store.ts";
import type { SetUp } from "../../http/services.ts";
import { withAttemptLimits, hashingFor } from "../../http/attempt-limits.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import { founded } from "../people/founding.ts";
import { mustBeStrongPassword, newPerson } from "../people/new-person.ts";
import { hasPeople, mustHaveNoPeople } from "../people/store.ts";
import { newSession } from "../sessions/service.ts";
import type { FirstRun, Stage } from "./schema.ts";

const over = () => new AppError("CONFLICT", "This Signalbox is set up already. Sign in.");

/**
 * The first run: an organization, and the person who owns it, signed in. Throws CONFLICT where there is
 * somebody already, FORBIDDEN for a wrong or old token, RATE_LIMITED, VALIDATION_ERROR.
 */
export async function setUp(
  context: VisitorContext,
  token: SetUp,
  input: FirstRun,
): Promise<Stage> {
  const { store } = context;
  if (await hasPeople(store)) throw over();
  const known = await withAttemptLimits(context, async () =>
    token.isToken(input.token) ? true : null,
  );
  if (known === null)
    throw new AppError(
      "FORBIDDEN",
      "This set-up link is not valid any more. Start Signalbox again: it prints a new one.",
    );
  mustBeStrongPassword(input.password, [input.email, input.name, input.organization]);
  const passwordHash = await hashPassword(input.password, hashingFor(context));
  const handOver = await retrying(async () => {
    const person = newPerson(context, input, passwordHash);
    const { statements } = await founded(context, input.organization, person.row);
    const session = newSession(context, person.id, "signed-in");
    await store.atomic([
      mustHaveNoPeople(over),
      ...person.statements,
      ...statements,
      ...session.statements,
    ]);
    return session.handOver;
  });
  token.end();
  handOver();
  return "signed-in";
}
