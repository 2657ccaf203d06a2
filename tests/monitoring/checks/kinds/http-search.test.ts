import { expect, test } from "bun:test";
import { TextSearch } from "../../../../src/monitoring/checks/kinds/http-search.ts";
import { charsets } from "../../../support/odd-responses.ts";

test.each(Object.entries(charsets))(
  "a text is found wherever the body is split in transit: %s",
  (_name, { type, bytes, text }) => {
    for (let cut = 0; cut <= bytes.length; cut++) {
      const search = new TextSearch([text], type, 0);
      for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
        search.push(Buffer.from(piece));
        search.flush();
      }
      search.finish();
      expect([cut, search.found.has(text)]).toEqual([cut, true]);
    }
  },
);
