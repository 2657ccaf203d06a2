// Runs before the first paint, while the page's script is still on its way.
import { askEarly } from "./data/early.ts";
import "./scheme.ts";

askEarly();
