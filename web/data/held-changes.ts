/** Changes that the server holds before it sends them, and the requests that undo or hurry them. */
import { useQuery } from "@tanstack/react-query";
import type { HeldChange } from "../../src/http/held-changes/schema.ts";
import { ApiError, type Result, unwrapData, v1 } from "./client.ts";
import { listKey } from "./keys.ts";
import { createDataQuery, queryClient } from "./query.ts";

export type { HeldChange } from "../../src/http/held-changes/schema.ts";

/** How long outgoing changes of the admin page are held, in seconds. */
export const holdSeconds = 10;
/** Poll interval while changes wait, in milliseconds. The live stream usually reports earlier. */
const pollMs = 5_000;

const key = listKey("held-change");
const heldQuery = createDataQuery(key, (options) =>
  v1["held-changes"].get({ query: { per_page: 50 }, ...options }),
);

/** Changes that wait, and outcomes of the last 24 hours, newest first. */
export function useHeldChanges(): readonly HeldChange[] {
  const { data = [] } = useQuery({
    ...heldQuery,
    refetchInterval: ({ state }) =>
      state.data?.some((one) => one.state === "waiting") === true ? pollMs : false,
  });
  return data;
}

/** Whether a held change deletes something. */
export const isDeletion = ({ operation, change }: HeldChange) =>
  /^(delete|revoke)/.test(operation) || change["delete"] === true;

const deadlines = new Map<string, number>();

/** Returns when a change is sent, by this machine's clock, which can differ from the server's. */
export function deadlineOf({ id, secondsLeft }: HeldChange): number {
  const at = Math.min(deadlines.get(id) ?? Infinity, Date.now() + secondsLeft * 1000);
  deadlines.set(id, at);
  return at;
}

/** Returns the held change of a response to a request with `hold`, and shows it at once. */
export async function receiveHeld(response: Promise<Result<unknown>>): Promise<HeldChange> {
  // The client's types know only the response without `hold`.
  const heldChange = await unwrapData(response as Promise<Result<{ data: HeldChange }>>);
  deadlineOf(heldChange);
  queryClient.setQueryData<HeldChange[]>(key, (now = []) => [
    heldChange,
    ...now.filter(({ id }) => id !== heldChange.id),
  ]);
  return heldChange;
}

const getRoute = ({ id }: HeldChange) => v1["held-changes"]({ id });

/** Removes a change that was not sent. It can be removed already, if an earlier response was lost. */
export async function undoHeld(held: HeldChange) {
  await unwrapData(getRoute(held).delete()).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  });
  queryClient.setQueryData<HeldChange[]>(key, (now) => now?.filter(({ id }) => id !== held.id));
}

/** Sends a change now. */
export async function sendHeld(held: HeldChange) {
  const sent = await unwrapData(getRoute(held).send.post());
  deadlineOf(sent);
}
