import { AppError, type ErrorCode } from "../../src/core/errors.ts";

/** The code with which a use case refuses; null when it does not. */
export async function refusal(promise: Promise<unknown>): Promise<ErrorCode | null> {
  try {
    await promise;
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}
