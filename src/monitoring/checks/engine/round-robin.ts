import { type Heap, pop, push } from "../../../core/collections/heap.ts";

export type Limits = {
  /** Divided evenly among the organizations: so many runs at one time each has whatever the others do. */
  reserved: number;
  /** Runs beyond these shares, for whoever has more to do. */
  shared: number;
  /** Runs of one organization in one lane. */
  perLane: number;
};

/** Where a run counts. */
export type Slot = { organizationId: string; lane: string | null };

type Waiting = { at: number; terms: Slot };

type Lane<T> = { running: number; parked: Set<T> };
type Organization<T extends Waiting> = {
  running: number;
  lanes: Map<string | null, Lane<T>>;
  /** In the order in which they were due; those whose lane is full are parked there. */
  ready: Heap<T>;
};

/**
 * Who begins next: organizations in turn, one run each, and within one whoever has waited longest. Its
 * own share is always free for an organization, also while others use all that is shared. `waits` says
 * whether a run that was taken in is still wanted.
 */
export function roundRobin<T extends Waiting>(limits: Limits, waits: (waiting: T) => boolean) {
  const organizations = new Map<string, Organization<T>>();
  const members = new Set<string>();
  /** Those that wait and have a part of their share left, and those that need more; first whose turn it is. */
  const within = new Set<string>();
  const beyond = new Set<string>();
  let share = limits.reserved;
  /** Runs beyond the shares, now. */
  let borrowed = 0;

  function organizationOf(id: string): Organization<T> {
    const known = organizations.get(id);
    if (known !== undefined) return known;
    const made = { running: 0, lanes: new Map(), ready: [] };
    organizations.set(id, made);
    return made;
  }

  function laneOf(organization: Organization<T>, name: string | null): Lane<T> {
    const known = organization.lanes.get(name);
    if (known !== undefined) return known;
    const made = { running: 0, parked: new Set<T>() };
    organization.lanes.set(name, made);
    return made;
  }

  /** Puts an organization where it waits now; one that waits there already keeps its turn. */
  function slot(id: string) {
    const { running, ready } = organizationOf(id);
    const [here, other] = running < share ? [within, beyond] : [beyond, within];
    other.delete(id);
    if (ready.length > 0) here.add(id);
    else here.delete(id);
  }

  function count(id: string, change: 1 | -1) {
    const organization = organizationOf(id);
    const before = Math.max(0, organization.running - share);
    organization.running += change;
    borrowed += Math.max(0, organization.running - share) - before;
    return organization;
  }

  function divide() {
    const now = Math.max(1, Math.floor(limits.reserved / Math.max(1, members.size)));
    if (now === share) return;
    share = now;
    borrowed = 0;
    for (const [id, { running }] of organizations) {
      borrowed += Math.max(0, running - share);
      slot(id);
    }
  }

  /** The organization's longest waiting run whose lane is not full. */
  function ready(organization: Organization<T>): T | null {
    for (let next = pop(organization.ready); next !== undefined; next = pop(organization.ready)) {
      if (!waits(next)) continue;
      const lane = laneOf(organization, next.terms.lane);
      if (lane.running < limits.perLane) return next;
      lane.parked.add(next);
    }
    return null;
  }

  function nextOf(waiting: Set<string>): T | null {
    for (const id of waiting) {
      const found = ready(organizationOf(id));
      // Whoever had a turn is last from now on.
      waiting.delete(id);
      if (found === null) {
        forget(id);
        continue;
      }
      begin(found.terms);
      return found;
    }
    return null;
  }

  function begin({ organizationId, lane }: Slot) {
    const organization = count(organizationId, 1);
    laneOf(organization, lane).running++;
    slot(organizationId);
  }

  function forget(id: string) {
    const { running, ready, lanes } = organizationOf(id);
    if (running === 0 && ready.length === 0 && lanes.size === 0) organizations.delete(id);
  }

  return {
    /** One more that may have runs. */
    join(id: string) {
      members.add(id);
      divide();
    },
    leave(id: string) {
      members.delete(id);
      divide();
    },
    /** Takes in what is due, until its turn comes. */
    wait(waiting: T) {
      const { organizationId } = waiting.terms;
      push(organizationOf(organizationId).ready, waiting);
      slot(organizationId);
    },
    /** Whose turn it is, which counts as begun; null while nobody may begin. */
    next: () => nextOf(within) ?? (borrowed < limits.shared ? nextOf(beyond) : null),
    begin,
    end({ organizationId, lane: name }: Slot) {
      const organization = count(organizationId, -1);
      const lane = laneOf(organization, name);
      lane.running--;
      for (const parked of lane.parked) {
        lane.parked.delete(parked);
        if (!waits(parked)) continue;
        push(organization.ready, parked);
        break;
      }
      if (lane.running === 0 && lane.parked.size === 0) organization.lanes.delete(name);
      slot(organizationId);
      forget(organizationId);
    },
  };
}
