import { z } from "zod";

/** The query of a route that takes none. */
export const NoQuery = z.strictObject({});

/** The body of a route that takes none; clients that always send `{}` are fine. */
export const NoBody = z.strictObject({}).optional();
