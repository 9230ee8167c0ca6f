/**
 * A tenant's tables, views and streams as PostgreSQL clients see them: the catalog that `pgwire` serves. The user is the tenant, the
 * password is a token with the scope "read".
 */

export { StreamsCatalog } from "./catalog.js";
