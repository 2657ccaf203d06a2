/** Decides whether alerts reach people: judges people, schedules and policies at one time. */
import { formatTimestamp } from "../../core/time/clock.ts";
import { toLocal } from "../../core/time/time-zones.ts";
import { planContactMethods, type UsableMethod } from "../contact-methods/rules.ts";
import type { MonthlyDrill } from "../drills/schema.ts";
import { type EscalationFacts, planStep } from "../deciding/escalation-rules.ts";
import { selectChannelsForProblems } from "../deciding/rules.ts";
import type { EscalationPolicy } from "../policies/schema.ts";
import type { ScheduleTimes } from "../schedules/rules.ts";
import type { Readiness, ReadinessPerson, ReadinessProblem } from "./schema.ts";

export type ReadinessChannel = UsableMethod & {
  name: string;
  type: string;
  /** Null for an ordinary channel. */
  personId: string | null;
  isDefault: boolean;
  failingSince: string | null;
  lastError: string | null;
  lastDeliveryAt: string | null;
};

type FailedDrill = { name: string; since: string; isReached: number };

/** Describes a drill that nobody acknowledged, or that reached nobody, for example in quiet hours. */
export const describeFailedDrill = ({ name, since, isReached }: FailedDrill): string =>
  isReached === 1
    ? `Nobody acknowledged the drill of ${name} on ${since.slice(0, 10)}.`
    : `No message of the drill of ${name} on ${since.slice(0, 10)} arrived.`;

/** A schedule, with who is on call now, and the start of its next gap; null for none. */
type ReadinessSchedule = Pick<ScheduleTimes, "timeZone" | "layers" | "overrides"> & {
  id: string;
  name: string;
  onCall: string | null;
  gapAt: number | null;
};

export type ReadinessFacts = {
  policies: readonly Pick<EscalationPolicy, "id" | "name" | "steps">[];
  schedules: readonly ReadinessSchedule[];
  channels: readonly ReadinessChannel[];
  /** Names by ID. */
  people: ReadonlyMap<string, string>;
  /** Monthly drills by person. */
  drills: ReadonlyMap<string, MonthlyDrill>;
  /** RFC 3339. Last acknowledgment by person. */
  acknowledged: ReadonlyMap<string, string>;
  /** Drills that nobody acknowledged or that reached nobody, if no later one of the same policy or person was acknowledged. */
  failedDrills: readonly ({ id: string } & FailedDrill)[];
};

/** Judges the readiness of an organization at `now`, in Unix milliseconds. */
export function judgeReadiness(facts: ReadinessFacts, now: number): Readiness {
  const people = listPeople(facts);
  const reach = buildReach(facts);
  const used = listTargets(facts);
  const problems = [
    ...people.flatMap((person) => findProblemsOfPerson(person, facts)),
    ...facts.policies.flatMap((policy) => findProblemsOfPolicy(policy, facts, reach)),
    ...findProblemsOfTargets(facts),
    ...facts.schedules.flatMap((schedule) => findProblemsOfSchedule(schedule, used, now)),
    ...facts.failedDrills.map(({ id, ...drill }) =>
      createProblem("drill-not-acknowledged", "error", describeFailedDrill(drill), {
        type: "alert",
        id,
      }),
    ),
  ];
  const isError = ({ severity }: ReadinessProblem) => severity === "error";
  const isUnreachable = ({ id }: ReadinessPerson) =>
    problems.some((one) => isError(one) && one.subject.id === id);
  return {
    at: formatTimestamp(now),
    problems: [...problems.filter(isError), ...problems.filter((one) => !isError(one))],
    people: [...people.filter(isUnreachable), ...people.filter((person) => !isUnreachable(person))],
  };
}

const createProblem = (
  type: ReadinessProblem["type"],
  severity: ReadinessProblem["severity"],
  message: string,
  subject: ReadinessProblem["subject"],
): ReadinessProblem => ({ type, severity, message, subject });

/** Lists the people whom schedules and policies name, or whom a monthly drill notifies, by name. */
function listPeople(facts: ReadinessFacts): ReadinessPerson[] {
  const uses = new Map<string, ReadinessPerson["uses"]>(
    [...facts.drills.keys()].map((personId) => [personId, []]),
  );
  const addUse = (personId: string, use: ReadinessPerson["uses"][number]) => {
    const usesOfPerson = uses.get(personId) ?? [];
    if (!usesOfPerson.some(({ id }) => id === use.id)) uses.set(personId, [...usesOfPerson, use]);
  };
  for (const { id, name, layers, overrides } of facts.schedules) {
    const scheduledPersonIds = [
      ...layers.flatMap(({ personIds }) => personIds),
      ...overrides.map((one) => one.personId),
    ];
    for (const personId of scheduledPersonIds) addUse(personId, { type: "schedule", id, name });
  }
  for (const { id, name, steps } of facts.policies)
    for (const target of steps.flatMap(({ targets }) => targets))
      if (target.type === "person") addUse(target.id, { type: "policy", id, name });
  const onCall = findPeopleOnCall(facts);
  return [...uses]
    .flatMap(([id, own]) => {
      const name = facts.people.get(id);
      return name === undefined ? [] : [describePerson({ id, name }, own, onCall.has(id), facts)];
    })
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

/** Returns the people whom a policy would notify now: directly, or as the person on call in a schedule. */
function findPeopleOnCall(facts: ReadinessFacts): Set<string> {
  const used = listTargets(facts);
  const bySchedule = facts.schedules
    .filter(({ id }) => used.has(id))
    .flatMap(({ onCall }) => onCall ?? []);
  return new Set([...facts.people.keys().filter((id) => used.has(id)), ...bySchedule]);
}

/** IDs of the people, schedules and channels that policies name. */
const listTargets = ({ policies }: Pick<ReadinessFacts, "policies">) =>
  new Set(
    policies.flatMap(({ steps }) => steps.flatMap(({ targets }) => targets.map(({ id }) => id))),
  );

const isWorking = ({ failingSince }: ReadinessChannel) => failingSince === null;

function describePerson(
  { id, name }: { id: string; name: string },
  uses: ReadinessPerson["uses"],
  onCall: boolean,
  { channels, acknowledged, drills }: ReadinessFacts,
): ReadinessPerson {
  const personalChannels = channels.filter(({ personId }) => personId === id);
  const working = personalChannels.filter(isWorking);
  const normal = planContactMethods(personalChannels, "normal");
  const critical = planContactMethods(personalChannels, "critical");
  const minutesOf = (planned: typeof normal, methodId: string) =>
    planned.find(({ method }) => method.id === methodId)?.afterMinutes ?? null;
  return {
    id,
    name,
    onCall,
    uses,
    reachable: planContactMethods(working, "normal").length > 0,
    reachableForCritical: planContactMethods(working, "critical").length > 0,
    contactMethods: personalChannels.map((method) => ({
      id: method.id,
      name: method.name,
      type: method.type,
      usedAfterMinutes: minutesOf(normal, method.id),
      usedForCriticalAfterMinutes: minutesOf(critical, method.id),
      provenAt: pickLatest(method.lastDeliveryAt, method.verifiedAt),
      problem: findMethodProblem(method),
    })),
    acknowledgedAt: acknowledged.get(id) ?? null,
    drill: drills.get(id) ?? null,
  };
}

const pickLatest = (one: string | null, other: string | null) =>
  [one, other]
    .filter((at) => at !== null)
    .toSorted()
    .at(-1) ?? null;

function findMethodProblem(method: ReadinessChannel) {
  if (method.verifiedAt === null) return "not-verified";
  if (!method.enabled) return "disabled";
  return isWorking(method) ? null : "failing";
}

function findProblemsOfPerson(person: ReadinessPerson, { channels }: ReadinessFacts) {
  const { id, name, contactMethods: methods } = person;
  const subject = { type: "person" as const, id };
  const personalChannels = channels.filter(({ personId }) => personId === id);
  const add = (
    type: ReadinessProblem["type"],
    severity: ReadinessProblem["severity"],
    message: string,
  ) => [createProblem(type, severity, message, subject)];
  if (methods.length === 0)
    return add("no-contact-method", "error", `${name} has no contact method.`);
  const verified = methods.filter(({ problem }) => problem !== "not-verified");
  if (verified.length === 0)
    return add("not-verified", "error", `No contact method of ${name} is verified.`);
  const enabled = verified.filter(({ problem }) => problem !== "disabled");
  if (enabled.length === 0)
    return add("disabled", "error", `The contact methods of ${name} are disabled.`);
  const failing = enabled.filter(({ problem }) => problem === "failing");
  const reason =
    personalChannels.find((one) => !isWorking(one) && one.lastError !== null)?.lastError ?? "";
  if (failing.length === enabled.length)
    return add("failing", "error", `Messages to ${name} can't be delivered. ${reason}`.trim());
  if (!person.reachableForCritical)
    return add(
      "none-for-critical",
      "error",
      `${name} can't be reached for alerts of critical priority.`,
    );
  if (failing.length === 0) return [];
  const names = failing.map((method) => method.name).join(", ");
  return add("failing", "warning", `${names} of ${name} can't be reached. ${reason}`.trim());
}

function findProblemsOfPolicy(
  { id, name, steps }: ReadinessFacts["policies"][number],
  facts: ReadinessFacts,
  reach: EscalationFacts,
): ReadinessProblem[] {
  // Such a policy exempts monitors from the default one.
  if (steps.length === 0) return [];
  const subject = { type: "policy" as const, id };
  const isReaching = (["normal", "critical"] as const).some((priority) =>
    steps.some(({ targets }) => planStep(targets, priority, reach).planned.length > 0),
  );
  const ordinary = facts.channels.filter((one) => one.personId === null && isWorking(one));
  return [
    ...(isReaching
      ? []
      : [createProblem("reaches-nobody", "error", `No step of ${name} reaches anyone.`, subject)]),
    ...(selectChannelsForProblems(ordinary).length > 0
      ? []
      : [
          createProblem(
            "ends-in-nobody",
            "warning",
            `If nobody acknowledges an alert of ${name}, no alert channel reports it at the end.`,
            subject,
          ),
        ]),
  ];
}

/** People whom steps of policies reach now, without failing channels. Quiet hours are intended, so they count as reachable. */
const buildReach = (facts: ReadinessFacts): EscalationFacts => ({
  at: 0,
  people: facts.people,
  schedules: new Map(
    facts.schedules.map(({ id, name, onCall }) => [id, { name, personId: onCall }]),
  ),
  channels: new Map(
    facts.channels.filter(isWorking).map((one) => [one.id, { ...one, quietHours: null }]),
  ),
});

/** Finds alert channels that policies name, and that don't work. */
function findProblemsOfTargets({ policies, channels }: ReadinessFacts): ReadinessProblem[] {
  return channels.flatMap((channel) => {
    const { id, name, enabled, personId, lastError } = channel;
    const users = policies.filter(({ steps }) =>
      steps.some(({ targets }) => targets.some((target) => target.id === id)),
    );
    if (personId !== null || users.length === 0) return [];
    const subject = { type: "channel" as const, id };
    const names = users.map((policy) => policy.name).join(", ");
    if (!enabled)
      return [
        createProblem(
          "channel-disabled",
          "warning",
          `${name} is disabled, but ${names} notifies it.`,
          subject,
        ),
      ];
    if (isWorking(channel)) return [];
    const message = `Messages of ${names} to ${name} can't be delivered. ${lastError ?? ""}`.trim();
    return [createProblem("channel-failing", "error", message, subject)];
  });
}

function findProblemsOfSchedule(
  schedule: ReadinessFacts["schedules"][number],
  used: ReadonlySet<string>,
  now: number,
): ReadinessProblem[] {
  const { id, name, timeZone, gapAt } = schedule;
  const subject = { type: "schedule" as const, id };
  const isUsed = used.has(id);
  const from =
    gapAt === null || gapAt <= now
      ? "now"
      : `from ${new Date(toLocal(gapAt, timeZone)).toISOString().slice(0, 16).replace("T", " ")} (${timeZone})`;
  return [
    ...(gapAt === null
      ? []
      : [
          createProblem(
            "gap",
            isUsed && gapAt <= now ? "error" : "warning",
            `Nobody is on call in ${name} ${from}.`,
            subject,
          ),
        ]),
    ...(isUsed
      ? []
      : [createProblem("not-used", "warning", `No escalation policy notifies ${name}.`, subject)]),
  ];
}
