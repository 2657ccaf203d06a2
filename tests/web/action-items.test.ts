import { expect, test } from "bun:test";
import {
  addActionItem,
  listActionItems,
  toggleActionItem,
} from "../../web/pages/incidents/detail/action-items.ts";

test("action items are the tasks of a postmortem; other lines stay as they are", () => {
  const text =
    "**Cause**\n- no task\n\n* [X] Rotate the key\n- [ ] Alert on age (Ada)\n- [ ] \n[ ] none";
  expect(listActionItems(text)).toEqual([
    { line: 3, text: "Rotate the key", isDone: true },
    { line: 4, text: "Alert on age (Ada)", isDone: false },
  ]);
  const [done, open] = listActionItems(text);
  const changed = toggleActionItem(toggleActionItem(text, done!), open!);
  expect(changed).toBe(text.replace("[X]", "[ ]").replace("[ ] Alert", "[x] Alert"));
});

test("a new action item fills the empty task, follows the last one, or ends the text", () => {
  expect(addActionItem("**Action items**\n\n- [ ] ", " Pay  $& \n the bill ")).toBe(
    "**Action items**\n\n- [ ] Pay $& the bill",
  );
  expect(addActionItem("- [x] One\n\nEnd", "Two")).toBe("- [x] One\n- [ ] Two\n\nEnd");
  expect(addActionItem("Cause.\n", "One")).toBe("Cause.\n\n- [ ] One");
  expect(addActionItem("", "One")).toBe("- [ ] One");
});
