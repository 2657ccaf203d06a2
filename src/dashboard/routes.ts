/** Routes of the Monitors page, the live stream and other views of the admin page. */
import { z } from "zod";
import { Causes } from "./cause-schema.ts";
import { findCauses } from "./cause-service.ts";
import { AppError } from "../core/errors.ts";
import { Id } from "../core/fields.ts";
import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import { createEventStream, type LiveEvents } from "../http/responses/event-stream.ts";
import { getSignedInSession } from "../http/access/authentication.ts";
import { formatLimit } from "../http/access/limited-access.ts";
import { resolveOrganization } from "../http/access/session.ts";
import {
  ChannelUse,
  CompactMonitor,
  CompactOverview,
  LiveQuery,
  OverviewQuery,
  PastState,
  RowsQuery,
  StatesQuery,
  SubscriberCount,
  UsersOfChannel,
  WhereQuery,
} from "./schema.ts";
import {
  readFurtherRows,
  findOrganizationWith,
  getOverview,
  listStates,
  listChannelUsers,
} from "./service.ts";
import { countChannelUses, countSubscribers } from "./store.ts";
import { PeriodFigures, PeriodQuery } from "../monitoring/uptime/schema.ts";
import { getPeriodFigures } from "../monitoring/uptime/service.ts";
import { Timeline, TimelineQuery } from "./timeline-schema.ts";
import { getPastOverview } from "./past-service.ts";
import { buildTimeline } from "./timeline-service.ts";

export const createDashboardRoutes = ({ live }: { live: LiveEvents }) =>
  createRouter("")
    .get(
      ...defineEndpoint("/overview", {
        name: "getOverview",
        access: "read",
        limited: "filtered",
        cached: true,
        long: true,
        summary:
          "Get the Monitors page, now or at a past time: all rows, or the first rows of many monitors",
        query: OverviewQuery,
        data: CompactOverview,
        handle: ({ scope, query: { at, ...filters } }) =>
          at === undefined ? getOverview(scope, filters) : getPastOverview(scope, filters, at),
      }),
    )
    .get(
      ...defineEndpoint("/overview/rows", {
        name: "listOverviewRows",
        access: "read",
        limited: "filtered",
        cached: true,
        long: true,
        summary: "List further rows of a folder of the Monitors page",
        query: RowsQuery,
        data: z.array(CompactMonitor),
        handle: ({ scope, query }) => readFurtherRows(scope, query),
      }),
    )
    .get(
      ...defineEndpoint("/live", {
        name: "live",
        access: "read",
        limited: "filtered",
        streams: "text/event-stream",
        summary: "Stream events and changed rows as server-sent events",
        query: LiveQuery,
        response: z.never(),
        handle: async ({ scope, query, services, request, requestContext }) => {
          const { sessions, extendTimeout } = services;
          const headers = { "Retry-After": "10" };
          if (!live.isOpen())
            throw new AppError("UNAVAILABLE", "The appliance is about to stop.", { headers });
          const session = getSignedInSession(requestContext);
          const { organizationId } = scope;
          const listener = { organizationId, sessionId: session.id, personId: session.person.id };
          if (!live.canListen(listener))
            throw new AppError("RATE_LIMITED", "Too many pages are open. Close some of them.", {
              headers,
            });
          const last = LiveQuery.safeParse({ after: request.headers.get("last-event-id") });
          const after = (last.success ? last.data.after : undefined) ?? query.after ?? null;
          const { role, groupIds } = resolveOrganization(request, session);
          const limit = formatLimit({ groupIds });
          const isAuthorized = () =>
            sessions.isStillOpen(session.id, ({ organizations }) =>
              organizations.some(
                (one) =>
                  one.id === organizationId && one.role === role && formatLimit(one) === limit,
              ),
            );
          return createEventStream(request, extendTimeout, (reader) =>
            live.join(reader, { ...listener, role, groupIds, after, isAuthorized }),
          );
        },
      }),
    )
    .get(
      ...defineEndpoint("/monitors/:id/states", {
        name: "listStates",
        access: "read",
        limited: "monitor",
        summary: "List the states of a monitor, newest first",
        query: StatesQuery,
        data: z.array(PastState),
        handle: ({ scope, params, query }) => listStates(scope, params.id, query),
      }),
    )
    .get(
      ...defineEndpoint("/monitors/:id/timeline", {
        name: "getTimeline",
        access: "read",
        limited: "monitor",
        long: true,
        summary: "Get the states of a monitor over a period, point by point",
        query: TimelineQuery,
        data: Timeline,
        handle: ({ scope, params, query }) => buildTimeline(scope, params.id, query),
      }),
    )
    .get(
      ...defineEndpoint("/monitors/:id/figures", {
        name: "getPeriodFigures",
        access: "read",
        limited: "monitor",
        long: true,
        summary: "Get the uptime and latency of a monitor in any period",
        query: PeriodQuery,
        data: PeriodFigures,
        handle: ({ scope, params, query }) => getPeriodFigures(scope, params.id, query),
      }),
    )
    .get(
      ...defineEndpoint("/monitors/:id/causes", {
        name: "findCauses",
        access: "read",
        limited: "monitor",
        summary: "Get what happened before a monitor failed",
        data: Causes,
        handle: ({ scope, params }) => findCauses(scope, params.id),
      }),
    )
    .get(
      ...defineEndpoint("/alert-channel-uses", {
        name: "countChannelUses",
        access: "read",
        limited: "filtered",
        cached: true,
        summary: "Count the monitors and groups of each alert channel",
        data: z.array(ChannelUse),
        handle: ({ scope }) => countChannelUses(scope),
      }),
    )
    .get(
      ...defineEndpoint("/alert-channels/:id/users", {
        name: "listUsersOfChannel",
        access: "read",
        limited: "filtered",
        cached: true,
        long: true,
        summary: "List the monitors and groups of an alert channel",
        data: UsersOfChannel,
        handle: ({ scope, params }) => listChannelUsers(scope, params.id),
      }),
    )
    .get(
      ...defineEndpoint("/subscriber-counts", {
        name: "countSubscribers",
        access: "read",
        limited: "filtered",
        cached: true,
        summary: "Count the subscribers of each status page",
        data: z.array(SubscriberCount),
        handle: ({ scope }) => countSubscribers(scope),
      }),
    )
    .get(
      ...defineEndpoint("/where", {
        name: "findOrganization",
        access: "person",
        summary: "Find which of the person's organizations has a record",
        query: WhereQuery,
        data: z.object({ organizationId: Id }),
        errors: ["NOT_FOUND"],
        handle: ({ context, query }) => findOrganizationWith(context, query),
      }),
    );
