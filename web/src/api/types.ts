/* Types of the server's answers. schema.ts is generated from the description of the API
 * (tools/openapi-types); to change a type, edit src/server/api/openapi/. */
export type * from './schema';
// `Event` and `Error` mean something else in a browser.
export type { Error as ErrorAnswer, Event as EventInfo, Process as ProcessInfo } from './schema';
