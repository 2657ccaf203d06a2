import { expect, test } from "bun:test";
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { isFirstLoad } from "../../web/data/query.ts";

test("a page waits for the first load of a query, and stays while a failed one is loaded again", async () => {
  const client = new QueryClient();
  const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let loads = 0;
  const query = new QueryObserver(client, {
    queryKey: ["people"],
    queryFn: () => answers[loads++]?.promise,
    retry: false,
  });
  query.subscribe(() => {});
  expect(isFirstLoad([query.getCurrentResult()])).toBe(true);
  answers[0]?.reject(new Error("The appliance is busy."));
  await query.refetch({ cancelRefetch: false });
  expect(query.getCurrentResult().isError).toBe(true);
  const again = query.refetch();
  expect(query.getCurrentResult().isLoading).toBe(true);
  expect(isFirstLoad([query.getCurrentResult()])).toBe(false);
  answers[1]?.resolve("Ada");
  expect((await again).data).toBe("Ada");
});
