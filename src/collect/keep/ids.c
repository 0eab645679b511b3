#include "collect/keep/ids.h"

#include <string.h>

static uint64_t hash_of(const struct file_identity *file)
{
	return hash_bytes(file, sizeof(*file), hash_seed());
}

static struct file_ids_entry *find_file(const struct file_ids *t, const struct file_identity *file)
{
	uint64_t hash = hash_of(file);
	size_t at = slots_begin(&t->slots, hash);
	uint32_t number;

	while ((number = slots_next(&t->slots, hash, &at)))
		if (!memcmp(&t->files.items[number - 1].file, file, sizeof(*file)))
			return &t->files.items[number - 1];
	return NULL;
}

void file_ids_add(struct file_ids *t, const struct file_identity *file, uint64_t from_ns,
		  const struct build_id *id)
{
	struct file_ids_entry *known = find_file(t, file);
	struct file_id added = {.id = *id, .from_ns = from_ns};

	if (t->ids.len >= FILE_IDS_MAX) {
		/* Without room for the new version, no id is better than a wrong one. */
		if (known)
			t->ids.items[known->newest].id.size = 0;
		return;
	}
	if (known) {
		added.earlier = known->newest + 1;
		known->newest = (uint32_t)t->ids.len;
	} else {
		vec_push(&t->files,
			 (struct file_ids_entry){.file = *file, .newest = (uint32_t)t->ids.len});
		slots_add(&t->slots, hash_of(file), (uint32_t)t->files.len);
	}
	vec_push(&t->ids, added);
}

const struct build_id *file_ids_find(const struct file_ids *t, const struct file_identity *file,
				     uint64_t time_ns)
{
	const struct file_ids_entry *known = find_file(t, file);
	const struct file_id *found = known ? &t->ids.items[known->newest] : NULL;

	while (found && found->earlier && found->from_ns > time_ns)
		found = &t->ids.items[found->earlier - 1];
	if (!found || !found->id.size || (time_ns && found->from_ns > time_ns))
		return NULL;
	return &found->id;
}

void file_ids_release(struct file_ids *t)
{
	vec_release(&t->files);
	vec_release(&t->ids);
	slots_release(&t->slots);
}
