import { expect, test } from "bun:test";
import { z } from "zod";
import { AppError } from "../../src/core/errors.ts";
import { integer } from "../../src/core/fields.ts";
import { parse } from "../../src/core/validation.ts";

function getError(schema: z.ZodType, value: unknown, whole?: string): AppError {
  try {
    parse(schema, value, whole);
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error("The value was taken.");
}

const wordings: [schema: z.ZodType, value: unknown, message: string][] = [
  [z.string(), undefined, "is required"],
  [z.enum(["a", "b"]), undefined, "is required"],
  [z.string(), 7, "must be a string"],
  [z.number(), "7", "must be a number"],
  [z.number(), "60s", "must be a number without a unit"],
  [z.int(), "1.5 min", "must be a number without a unit"],
  [z.number(), "sixty", "must be a number"],
  [z.int(), 1.5, "must be a whole number"],
  [z.boolean(), "true", "must be true or false"],
  [z.array(z.string()), {}, "must be a list"],
  [z.object({}), [], "must be an object"],
  [z.record(z.string(), z.string()), 7, "must be an object"],
  [z.string().min(1), "", "must not be empty"],
  [z.string().max(2), "secret", "must have at most 2 characters"],
  [z.array(z.string()).min(1), [], "must have at least 1 entry"],
  [z.array(z.string()).max(1), ["a", "b"], "must have at most 1 entry"],
  [z.array(z.string()).max(0), ["a"], "must have at most 0 entries"],
  [integer(5, 10), 4, "must be at least 5"],
  [integer(5, 10), 11, "must be at most 10"],
  [z.enum(["a", "b"]), "secret", "must be one of: a, b"],
  [z.strictObject({}), { typo: 1 }, "is not a field of this resource"],
  [z.string().regex(/a/, "must have an a"), "secret", "must have an a"],
];
test("an invalid value gets a message with the valid ones, without the value itself", () => {
  for (const [schema, value, message] of wordings) {
    const { code, details } = getError(z.strictObject({ field: schema }), { field: value });
    expect([code, details?.map((detail) => detail.message)]).toEqual([
      "VALIDATION_ERROR",
      [message],
    ]);
  }
});

test("a detail's path names the invalid entry; the message repeats the first one", () => {
  const schema = z.strictObject({
    ids: z.array(z.string()),
    auth: z.strictObject({ user: z.string() }),
  });
  const { details, message } = getError(schema, { ids: ["a", 1], auth: { user: 2, pass: "x" } });
  expect(details?.map(({ path }) => path)).toEqual(["ids[1]", "auth.user", "auth.pass"]);
  expect(message).toBe("ids[1] must be a string.");
  expect(getError(schema, "x").details).toEqual([{ path: "body", message: "must be an object" }]);
  expect(getError(z.string(), 7, "name").details?.[0]?.path).toBe("name");
});

test("at most 20 details are returned, for invalid entries and unknown fields alike", () => {
  const many = Array.from({ length: 500 }, (_, index) => index);
  const unknown = Object.fromEntries(many.map((index) => [`field${index}`, 1]));
  const schema = z.strictObject({ ids: z.array(z.string()) });
  for (const [value, first, last] of [
    [{ ids: many }, "ids[0]", "ids[19]"],
    [{ ids: [], ...unknown }, "field0", "field19"],
    [{ ids: many.slice(0, 5), ...unknown }, "ids[0]", "field14"],
  ] as const) {
    const { details } = getError(schema, value);
    expect(details).toHaveLength(20);
    expect([details?.[0]?.path, details?.[19]?.path]).toEqual([first, last]);
  }
});

test("an unknown field's name is shown in one short, well-formed line", () => {
  const name = `a\r\nb\u0000\ud800${"😀".repeat(100)}`;
  const [detail] = getError(z.strictObject({}), { [name]: 1 }).details ?? [];
  expect(detail?.path).toBe(`a↵b��${"😀".repeat(55)}…`);
});
