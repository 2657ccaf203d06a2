/** Examines whether people on call can be reached, and whether drills were acknowledged, by organization. */
import { readReadiness } from "../../alerting/readiness/service.ts";
import { describeFailedDrill } from "../../alerting/readiness/rules.ts";
import { listFailedDrills } from "../../alerting/readiness/store.ts";
import { createOkFinding, createProblemFinding } from "../../core/finding.ts";
import type { ProblemName } from "../../core/problems.ts";
import type { Clock } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";
import type { Diagnosis } from "./diagnostic.ts";

type Context = { store: Store; clock: Clock };

/** Maximum sentences in the message of a problem. */
const maxSentences = 5;

const organizationsSql = `select id, name from organizations o where deleted_at is null
  and exists (select 1 from escalation_policies where organization_id = o.id) order by name, id`;

/** Finds people whom a policy would notify now, and who can't be reached. */
export async function examineOnCall({ store, clock }: Context): Promise<Diagnosis[]> {
  const now = clock();
  const organizations = await store.query<{ id: string; name: string }>(organizationsSql, []);
  const diagnoses: Diagnosis[] = [];
  for (const { id: organizationId, name } of organizations) {
    const { people, problems } = await readReadiness({ store, organizationId }, now, {
      withGaps: false,
    });
    const onCall = new Set(people.filter((person) => person.onCall).map(({ id }) => id));
    const found = problems.filter(
      ({ severity, subject }) => severity === "error" && onCall.has(subject.id),
    );
    diagnoses.push(
      found.length === 0
        ? createOkFinding("people on call", `those of ${name} can be reached`)
        : createDiagnosis(
            { name: "on-call", subject: "people on call", organizationId, organization: name },
            found.map(({ type, subject, message }) => ({ key: `${subject.id} ${type}`, message })),
            "See On call → Readiness.",
          ),
    );
  }
  return diagnoses;
}

/** Finds drills that nobody acknowledged, or that reached nobody. */
export async function examineDrills({ store }: Context): Promise<Diagnosis[]> {
  const failed = await listFailedDrills(store, null);
  if (failed.length === 0) return [];
  const names = await store.query<{ id: string; name: string }>(
    "select id, name from organizations where deleted_at is null",
    [],
  );
  return [...Map.groupBy(failed, (one) => one.organizationId)].flatMap(([organizationId, own]) => {
    const organization = names.find(({ id }) => id === organizationId)?.name;
    if (organization === undefined) return [];
    return createDiagnosis(
      { name: "drill", subject: "drills", organizationId, organization },
      own.map(({ id, ...drill }) => ({ key: id, message: describeFailedDrill(drill) })),
      "Find out why, and start another drill: see On call → Readiness.",
    );
  });
}

type About = {
  name: ProblemName;
  subject: string;
  organizationId: string;
  organization: string;
};

/** Creates the problem that these sentences describe. A changed sentence is a new stage, which notifies again. */
export function createDiagnosis(
  { name, subject, organizationId, organization }: About,
  sentences: readonly { key: string; message: string }[],
  advice: string,
): Diagnosis {
  const listedMessages = sentences.slice(0, maxSentences).map(({ message }) => message);
  const omittedCount = sentences.length - listedMessages.length;
  const text = [...listedMessages, ...(omittedCount > 0 ? [`And ${omittedCount} more.`] : [])].join(
    " ",
  );
  return {
    ...createProblemFinding(subject, `${organization}: ${text}`, advice),
    problem: {
      name,
      organizationId,
      stage: sentences
        .map(({ key }) => key)
        .toSorted()
        .join(", "),
      severity: "error",
      message: `${text} ${advice}`,
      until: null,
    },
  };
}
