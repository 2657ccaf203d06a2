/** One client's request and response, in one process's monotonic time. */
export type Operation<Input, Output> = {
  input: Input;
  /** Null when the outcome is unknown: it can have happened at any time since its start, or not at all. */
  output: Output | null;
  start: number;
  end: number;
};

/** The sequential specification of one object. */
export type Model<State, Input, Output> = {
  initial: State;
  /** The next state; null when the response is impossible in this state. */
  step(state: State, input: Input, output: Output | null): State | null;
};

/**
 * Whether these operations could have happened one after the other, each at a moment between its
 * start and its end (Herlihy and Wing 1990). Uses the search by Wing and Gong with Lowe's cache of
 * visited states.
 */
export function isLinearizable<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
): boolean {
  const byStart = history.toSorted((a, b) => a.start - b.start);
  const known = byStart.filter(({ output }) => output !== null);
  const unknown = byStart.filter(({ output }) => output === null);
  /** For each unknown operation, the previous unknown one with the same request: the earlier is tried first. */
  const alike = unknown.map(({ input }, i) => {
    const request = JSON.stringify(input);
    const earlier = unknown
      .slice(0, i)
      .findLastIndex((one) => JSON.stringify(one.input) === request);
    return earlier === -1 ? undefined : earlier;
  });
  /** Visited sets of applied unknown operations, by position and state. A subset of a visited set needs another visit. */
  const tried = new Map<string, (readonly number[])[]>();
  /** Search position: completed prefix, completed operations beyond it, applied unknown operations. */
  type SearchState = {
    prefix: number;
    beyond: readonly number[];
    done: readonly number[];
    state: State;
  };
  const pendingPlaces: SearchState[] = [{ prefix: 0, beyond: [], done: [], state: model.initial }];

  function tryPlace({ prefix, beyond, done, state }: SearchState) {
    const key = JSON.stringify([prefix, beyond, state]);
    const before = tried.get(key) ?? [];
    if (before.some((fewer) => fewer.every((one) => done.includes(one)))) return;
    tried.set(key, [...before, done]);
    pendingPlaces.push({ prefix, beyond, done, state });
  }

  function* listNext({ prefix, beyond, done, state }: SearchState): Generator<SearchState> {
    const open: number[] = [];
    let firstEnd = Infinity;
    for (let i = prefix; i < known.length; i++) {
      const { start, end } = known[i] as Operation<Input, Output>;
      if (start > firstEnd) break;
      if (beyond.includes(i)) continue;
      firstEnd = Math.min(firstEnd, end);
      open.push(i);
    }
    const createStep = (one: Operation<Input, Output> | undefined) =>
      one === undefined || one.start > firstEnd ? null : model.step(state, one.input, one.output);
    for (const [i, one] of unknown.entries()) {
      const isLater = alike[i] !== undefined && !done.includes(alike[i]);
      const reached = done.includes(i) || isLater ? null : createStep(one);
      if (reached !== null) yield { prefix, beyond, done: insertSorted(done, i), state: reached };
    }
    // Earlier starts are tried first, so they are pushed last.
    for (const i of open.toReversed()) {
      const reached = createStep(known[i]);
      if (reached === null) continue;
      let [passed, rest] = [prefix, insertSorted(beyond, i)];
      while (rest[0] === passed) [passed, rest] = [passed + 1, rest.slice(1)];
      yield { prefix: passed, beyond: rest, done, state: reached };
    }
  }

  for (let current = pendingPlaces.pop(); current !== undefined; current = pendingPlaces.pop()) {
    if (current.prefix === known.length) return true;
    for (const one of listNext(current)) tryPlace(one);
  }
  return false;
}

function insertSorted(sorted: readonly number[], one: number): number[] {
  return [...sorted, one].toSorted((a, b) => a - b);
}

export type PostOperation = Operation<{ post: string } | "read", readonly string[]>;

/**
 * The timeline of an incident: each post adds one message, and a response contains all of them.
 * Every timeline is a prefix of the longest response, so the state is the number of its messages.
 */
export function createTimelineModel(
  history: readonly PostOperation[],
): Model<number, PostOperation["input"], readonly string[]> {
  const responses = history.map(({ output }) => output ?? []);
  const longest = responses.toSorted((a, b) => b.length - a.length)[0] ?? [];
  return {
    initial: 0,
    step(before, input, answered) {
      if (input !== "read" && longest[before] !== input.post) return null;
      const after = input === "read" ? before : before + 1;
      const isAnswer = answered?.join("\n") === longest.slice(0, after).join("\n");
      return answered === null || isAnswer ? after : null;
    },
  };
}

/** The group of each monitor. */
export type Membership = Readonly<Record<string, string | null>>;
export type Move =
  | { monitor: string; to: string }
  | { group: string; members: readonly string[] }
  | { groupOf: string }
  | { membersOf: string };

/** Moves of monitors among groups, from either side; `initial` names every monitor. */
export function createMembershipModel(
  initial: Membership,
): Model<Membership, Move, readonly (string | null)[]> {
  const membersOf = (state: Membership, group: string) =>
    Object.keys(state).filter((monitor) => state[monitor] === group);
  return {
    initial,
    step(state, move, answered) {
      const joinSorted = (ids: readonly (string | null)[]) => ids.map(String).toSorted().join();
      const matchesAnswer = (expected: readonly (string | null)[]) =>
        answered === null || joinSorted(answered) === joinSorted(expected);
      if ("groupOf" in move) return matchesAnswer([state[move.groupOf] ?? null]) ? state : null;
      if ("membersOf" in move)
        return matchesAnswer(membersOf(state, move.membersOf)) ? state : null;
      if ("monitor" in move)
        return matchesAnswer([move.to]) ? { ...state, [move.monitor]: move.to } : null;
      const { group, members } = move;
      const after = Object.entries(state).map(([monitor, before]) => {
        const left = before === group ? null : before;
        return [monitor, members.includes(monitor) ? group : left];
      });
      return matchesAnswer(members) ? (Object.fromEntries(after) as Membership) : null;
    },
  };
}
