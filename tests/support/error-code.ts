import { AppError, type ErrorCode } from "../../src/core/errors.ts";

/** The error code of a rejected use case; null when it succeeds. */
export async function findErrorCode(promise: Promise<unknown>): Promise<ErrorCode | null> {
  try {
    await promise;
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}
