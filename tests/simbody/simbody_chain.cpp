/* simbody_chain.cpp — a chain of pendulums in Simbody: pins about the third axis, one point mass for each link. */
#include "tests/simbody/simbody_chain.h"

#include <Simbody.h>

#include <cstdio>
#include <ctime>

using namespace SimTK;

namespace {

double processor_time() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

} // namespace

bool simbody_chain(size_t links, double stop, size_t rows, double accuracy, simbody_chain_result *out) {
    try {
        double begin = processor_time();
        MultibodySystem system;
        SimbodyMatterSubsystem matter(system);
        GeneralForceSubsystem forces(system);
        system.setUseUniformBackground(true);
        Force::Gravity(forces, matter, Vec3(0, -9.81, 0));
        Body::Rigid body(MassProperties(1, Vec3(0), Inertia(0)));
        MobilizedBody last = matter.updGround();
        MobilizedBody first;
        for (size_t i = 0; i < links; i++) {
            last = MobilizedBody::Pin(last, Transform(Vec3(0)), body, Transform(Vec3(0, 1, 0)));
            if (i == 0) first = last;
        }
        State start = system.realizeTopology();
        first.setOneQ(start, 0, 0.8);
        RungeKuttaMersonIntegrator integrator(system);
        integrator.setAccuracy(accuracy);
        integrator.setInternalStepLimit(1000000);
        integrator.initialize(start);
        out->create = processor_time() - begin;
        begin = processor_time();
        for (size_t k = 1; k < rows; k++) {
            double t = stop * static_cast<double>(k) / static_cast<double>(rows - 1);
            while (integrator.getTime() < t) integrator.stepTo(t);
        }
        out->run = processor_time() - begin;
        out->steps = integrator.getNumStepsTaken();
        system.realize(integrator.getState(), Stage::Position);
        Vec3 tip = last.getBodyOriginLocation(integrator.getState());
        out->tip[0] = tip[0];
        out->tip[1] = tip[1];
        return true;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "simbody: %s\n", e.what());
        return false;
    }
}
