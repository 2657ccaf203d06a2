import { Elysia } from "elysia";
import { z } from "zod";
import { AppError } from "../core/errors.ts";
import { Id } from "../core/fields.ts";
import { dataOf } from "../core/paging.ts";
import { callOf } from "../http/call.ts";
import { endpoint } from "../http/endpoint.ts";
import { eventStream } from "../http/event-stream.ts";
import { signedIn } from "../http/gate.ts";
import { organizationOf } from "../http/session.ts";
import {
  ChannelUse,
  CompactOverview,
  LiveQuery,
  PastState,
  StatesQuery,
  SubscriberCount,
  UsersOfChannel,
  WhereQuery,
} from "./schema.ts";
import {
  channelUses,
  organizationWith,
  overviewOf,
  statesOf,
  subscriberCounts,
  usersOfChannel,
} from "./service.ts";

export const dashboardRoutes = new Elysia()
  .get(
    "/overview",
    ...endpoint(
      {
        name: "getOverview",
        access: "read",
        cached: true,
        packed: true,
        summary: "Everything that the Monitors page shows",
        answer: dataOf(CompactOverview),
      },
      async ({ scope }) => ({ data: await overviewOf(scope) }),
    ),
  )
  .get(
    "/live",
    ...endpoint(
      {
        name: "live",
        access: "read",
        streams: "text/event-stream",
        summary: "What happens, as server-sent events",
        query: LiveQuery,
        answer: z.never(),
      },
      async ({ scope, query, appliance, request }) => {
        const { live, sessions, giveTime } = appliance;
        const headers = { "Retry-After": "10" };
        if (!live.isOpen())
          throw new AppError("UNAVAILABLE", "The appliance is about to stop.", { headers });
        const session = signedIn(callOf(request));
        const { organizationId } = scope;
        const listener = { organizationId, sessionId: session.id, personId: session.person.id };
        if (!live.mayListen(listener))
          throw new AppError("RATE_LIMITED", "Too many pages are open. Close some of them.", {
            headers,
          });
        const last = LiveQuery.safeParse({ after: request.headers.get("last-event-id") });
        const after = (last.success ? last.data.after : undefined) ?? query.after ?? null;
        const { role } = organizationOf(request, session);
        const isWelcome = () =>
          sessions.isStillOpen(session.id, ({ organizations }) =>
            organizations.some((one) => one.id === organizationId && one.role === role),
          );
        return eventStream(request, giveTime, (reader) =>
          live.join(reader, { ...listener, role, after, isWelcome }),
        );
      },
    ),
  )
  .get(
    "/monitors/:id/states",
    ...endpoint(
      {
        name: "listStates",
        access: "read",
        summary: "What a monitor was, newest first",
        query: StatesQuery,
        answer: dataOf(z.array(PastState)),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id, query }) => ({ data: await statesOf(scope, id, query) }),
    ),
  )
  .get(
    "/alert-channel-uses",
    ...endpoint(
      {
        name: "countChannelUses",
        access: "read",
        cached: true,
        summary: "How many monitors and groups each alert channel belongs to",
        answer: dataOf(z.array(ChannelUse)),
      },
      async ({ scope }) => ({ data: await channelUses(scope) }),
    ),
  )
  .get(
    "/alert-channels/:id/users",
    ...endpoint(
      {
        name: "listUsersOfChannel",
        access: "read",
        cached: true,
        summary: "Which monitors and groups an alert channel belongs to",
        answer: dataOf(UsersOfChannel),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id }) => ({ data: await usersOfChannel(scope, id) }),
    ),
  )
  .get(
    "/subscriber-counts",
    ...endpoint(
      {
        name: "countSubscribers",
        access: "read",
        cached: true,
        summary: "How many subscribers each status page has",
        answer: dataOf(z.array(SubscriberCount)),
      },
      async ({ scope }) => ({ data: await subscriberCounts(scope) }),
    ),
  )
  .get(
    "/where",
    ...endpoint(
      {
        name: "findOrganization",
        access: "person",
        summary: "Which of the person's organizations a record belongs to",
        query: WhereQuery,
        answer: dataOf(z.object({ organizationId: Id })),
        errors: ["NOT_FOUND"],
      },
      async ({ visit, query }) => ({ data: await organizationWith(visit, query) }),
    ),
  );
