/** REST routes of on-call schedules, their shifts and their overrides. */
import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { HoldQuery } from "../../http/held-changes/schema.ts";
import { createRouter } from "../../http/request-context.ts";
import { Readiness } from "../readiness/schema.ts";
import { type CalendarLimits, calendarRoute, serveCalendar } from "./calendar.ts";
import {
  NewSchedule,
  NewScheduleOverride,
  OnCall,
  OnCallQuery,
  Schedule,
  ScheduleOverride,
  SchedulePatch,
  SchedulePreview,
  ScheduleSwap,
  Shift,
  ShiftsQuery,
} from "./schema.ts";
import {
  createOverride,
  createSchedule,
  deleteOverride,
  deleteSchedule,
  getOnCall,
  getReadiness,
  getSchedule,
  getShifts,
  listOnCall,
  listOverrides,
  listSchedules,
  previewShifts,
  renewCalendar,
  swapShifts,
  updateSchedule,
} from "./service.ts";

export const scheduleRoutes = createRouter("/api/v1/schedules")
  .get(
    ...defineEndpoint("/", {
      name: "listSchedules",
      access: "read",
      limited: "unrelated",
      long: true,
      summary: "List on-call schedules",
      description: "All of them, by name.",
      data: z.array(Schedule),
      handle: ({ scope }) => listSchedules(scope),
    }),
  )
  .post(
    ...defineEndpoint("/", {
      name: "createSchedule",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Create an on-call schedule",
      body: NewSchedule,
      data: Schedule,
      status: 201,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, body }) => createSchedule(scope, body),
    }),
  )
  .get(
    ...defineEndpoint("/:id", {
      name: "getSchedule",
      access: "read",
      limited: "unrelated",
      summary: "Get an on-call schedule",
      data: Schedule,
      handle: ({ scope, params }) => getSchedule(scope, params.id),
    }),
  )
  .patch(
    ...defineEndpoint("/:id", {
      name: "updateSchedule",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Change an on-call schedule",
      description: "Absent fields keep their value. `layers` is the complete list.",
      body: SchedulePatch,
      data: Schedule,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) => updateSchedule(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "deleteSchedule",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Delete an on-call schedule",
      description:
        "Its overrides are deleted, too. Fails while an escalation policy uses it; the error lists the policies.",
      query: HoldQuery,
      response: Deleted,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deleteSchedule(scope, params.id),
    }),
  )
  .get(
    ...defineEndpoint("/:id/on-call", {
      name: "getOnCall",
      access: "read",
      limited: "unrelated",
      summary: "Get who is on call in a schedule, now or at a time",
      query: OnCallQuery,
      data: OnCall,
      handle: ({ scope, params, query }) => getOnCall(scope, params.id, query),
    }),
  )
  .get(
    ...defineEndpoint("/:id/shifts", {
      name: "listShifts",
      access: "read",
      limited: "unrelated",
      long: true,
      summary: "List the shifts of a span, with its gaps",
      query: ShiftsQuery,
      data: z.array(Shift),
      handle: ({ scope, params, query }) => getShifts(scope, params.id, query),
    }),
  )
  .get(
    ...defineEndpoint("/:id/overrides", {
      name: "listScheduleOverrides",
      access: "read",
      limited: "unrelated",
      long: true,
      summary: "List the overrides of a span",
      query: ShiftsQuery,
      data: z.array(ScheduleOverride),
      handle: ({ scope, params, query }) => listOverrides(scope, params.id, query),
    }),
  )
  .post(
    ...defineEndpoint("/:id/overrides", {
      name: "createScheduleOverride",
      access: "write",
      limited: "denied",
      summary: "Put a person on call for a time",
      description:
        "It replaces the people in the layers. If several overrides overlap, the latest applies.",
      body: NewScheduleOverride,
      data: ScheduleOverride,
      status: 201,
      isLocated: false,
      errors: ["CONFLICT"],
      handle: ({ scope, params, body }) => createOverride(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id/overrides/:overrideId", {
      name: "deleteScheduleOverride",
      access: "write",
      limited: "denied",
      summary: "Remove an override",
      response: Deleted,
      handle: ({ scope, params }) => deleteOverride(scope, params.id, params.overrideId),
    }),
  )
  .post(
    ...defineEndpoint("/:id/swaps", {
      name: "swapShifts",
      access: "write",
      limited: "denied",
      summary: "Exchange the people of two times",
      description: "Creates two overrides. Each time must have one person on call.",
      body: ScheduleSwap,
      data: z.array(ScheduleOverride),
      status: 201,
      isLocated: false,
      errors: ["CONFLICT"],
      handle: ({ scope, params, body }) => swapShifts(scope, params.id, body),
    }),
  )
  .post(
    ...defineEndpoint("/:id/calendar/renew", {
      name: "renewScheduleCalendar",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Replace the address of a schedule's calendar",
      description: "The previous address stops working at once.",
      data: Schedule,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => renewCalendar(scope, params.id),
    }),
  );

export const onCallRoutes = createRouter("/api/v1/on-call")
  .get(
    ...defineEndpoint("/", {
      name: "listOnCall",
      access: "read",
      limited: "unrelated",
      long: true,
      summary: "List who is on call in every schedule, now or at a time",
      query: OnCallQuery,
      data: z.array(OnCall),
      handle: ({ scope, query }) => listOnCall(scope, query),
    }),
  )
  .get(
    ...defineEndpoint("/readiness", {
      name: "getReadiness",
      access: "read",
      limited: "denied",
      long: true,
      summary: "Get whether alerts reach people",
      description:
        "Who can be reached how, and when that was last proven; who can't, and why. Gaps of schedules within 14 days, policies that reach nobody, and drills that nobody acknowledged.",
      data: Readiness,
      handle: ({ scope }) => getReadiness(scope),
    }),
  );

/** Preview of unsaved layers, for the editor of the admin page. */
export const scheduleDashboardRoutes = createRouter("/schedules").post(
  ...defineEndpoint("/preview", {
    name: "previewSchedule",
    access: "write",
    limited: "unrelated",
    summary: "List the shifts of layers that are not saved",
    body: SchedulePreview,
    data: z.array(Shift),
    handle: ({ scope, body }) => previewShifts(scope, body),
  }),
);

/** Calendars at their secret addresses. */
export const createCalendarRoutes = (limits: CalendarLimits) =>
  createRouter("").get(calendarRoute, ({ params, requestContext: { address, services } }) =>
    serveCalendar(params.token, address, services, limits),
  );
