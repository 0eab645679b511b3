/* Finds out in which virtual machine or container we run. */
#include "doctor/doctor.h"
#include "base/fs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void doctor_find_hypervisor(struct doctor *d)
{
	d->hypervisor = hypervisor_find(&d->roots, d->product);
}

/* The initial namespaces have fixed numbers; a container has at least one namespace of its own. */
static bool own_namespace(const char *kind, unsigned long first)
{
	char link[64], target[64], expected[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/ns/%s", kind);
	snprintf(expected, sizeof(expected), "%s:[%lu]", kind, first);
	n = readlink(link, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	return strcmp(target, expected) != 0;
}

void doctor_find_container(struct doctor *d)
{
	const char *kind = "container";
	char line[32];

	if (d->roots.foreign ||
	    (!own_namespace("pid", 4026531836) && !own_namespace("cgroup", 4026531835)))
		return;
	if (getenv("KUBERNETES_SERVICE_HOST"))
		kind = "Kubernetes";
	else if (fs_exists("/run/.containerenv"))
		kind = "Podman";
	else if (fs_exists("/.dockerenv"))
		kind = "Docker";
	else if (fs_line(line, sizeof(line), "/run/systemd/container") && line[0])
		kind = line;
	snprintf(d->container, sizeof(d->container), "%s", kind);
}
