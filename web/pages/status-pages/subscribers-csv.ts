import { csvRow } from "../../../src/core/text.ts";
import { dataOf } from "../../data/client.ts";
import { pageRoutes, type StatusPage, type Subscriber } from "../../data/status-pages.ts";

const columns = [
  "type",
  "address",
  "status",
  "createdAt",
  "confirmedAt",
  "lastDeliveryAt",
  "lastError",
] as const;

function csvOf(subscribers: readonly Subscriber[]): string {
  const rows = subscribers.map((one) => {
    const record = { ...one, address: one.email ?? one.url };
    return csvRow(columns.map((name) => record[name] ?? ""));
  });
  return [csvRow(columns), ...rows].join("");
}

/** All subscribers of a page as a file. */
export async function downloadSubscribers({ id, slug }: StatusPage) {
  const subscribers = await dataOf(pageRoutes(id)["subscribers-export"].get());
  const url = URL.createObjectURL(new Blob([csvOf(subscribers)], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `subscribers-${slug}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
