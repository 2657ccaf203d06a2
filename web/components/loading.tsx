import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Icon } from "./icons.tsx";
import { EmptyState } from "./page.tsx";

/** What a query found, old or new; nothing while it is the first time, and the reason where it failed. */
export function Loaded<T>({
  query: { data, error },
  what,
  children,
}: {
  query: Pick<UseQueryResult<T>, "data" | "error">;
  /** `The API keys`. */
  what: string;
  children: (data: T) => ReactNode;
}) {
  if (data !== undefined) return children(data);
  if (error === null) return null;
  return (
    <EmptyState icon={<Icon name="warning" size={28} />} title={`${what} could not be loaded`}>
      {error.message}
    </EmptyState>
  );
}
