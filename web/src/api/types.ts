/* What the server answers, by the names that the page uses. schema.ts is made from the description of the
 * API (tools/openapi-types); a type is changed in src/server/api/openapi/. */
export type * from './schema';
// `Event` and `Error` mean something else in a browser.
export type { Error as ErrorAnswer, Event as EventInfo, Process as ProcessInfo } from './schema';
